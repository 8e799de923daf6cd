CREATE TABLE metrics (
  name  VARCHAR NOT NULL,  -- gen: choice('foo', 'bar', 'baz', 'bad', 'bleg')
  value FLOAT NOT NULL     -- gen: real(0, 1)
);
