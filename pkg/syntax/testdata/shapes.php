<?php
namespace Demo\Shapes;

const LIMIT = 10;

/** A shape. */
#[Attr]
abstract class Shape extends Base implements Area {
    const SIDES = 3;
    private ?string $name = null;
    public function __construct(string $name) { $this->name = $name; }
    abstract protected function area(): int;
    public static function make(): self { return new self(); }
}
interface Area { public function area(): int; }
trait Named { public function name() { return 1; } }
enum Color: string { case Red = 'r'; }
function helper($a) { return fn($b) => $b; }

define('DEPTH', 3);
$config = ['a' => 1];
