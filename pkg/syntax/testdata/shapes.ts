import { x } from "y";

/** A shape. */
export interface Shape {
  name: string;
  area(): number;
}

export type Pair<T> = [T, T];

export enum Color { Red, Green }

@Component({ selector: "a" })
export class Circle implements Shape {
  private radius = 1;
  constructor(public name: string) {}
  @Input()
  area(): number { return 1; }
}

export abstract class Base {
  abstract run(): void;
}

namespace Deep.Inner {
  export function nested(): void {}
}

declare module "ext" {
  function ambient(a: number): void;
}

export const load = async (a: number): Promise<void> => {};
export function overload(a: string): void;
export function overload(a: any) {}
const LIMIT: number = 3;

export class Box {
  get width(): number { return 1; }
  set width(value: number) {}
}

export async function wrapped<
  T extends object,
>(
  first: string,
  second: Map<string, T>, // why
): Promise<T> {
  throw new Error(first);
}

export const {
  open,
  close: shut,
}: Handlers = handlers;
