-- Shapes.
CREATE TABLE shapes (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL
);

CREATE INDEX shapes_name ON shapes (name);

CREATE VIEW big_shapes AS SELECT * FROM shapes WHERE id > 10;

CREATE FUNCTION add(a integer, b integer) RETURNS integer AS $$
  SELECT a + b;
$$ LANGUAGE SQL;

CREATE TYPE mood AS ENUM ('sad', 'ok');

SELECT 1;
