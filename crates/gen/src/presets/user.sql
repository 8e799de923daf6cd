CREATE TABLE user (
  id INTEGER not null primary key,  -- gen: sequence
  area CHAR(6),                     -- gen: digits(6)
  age INTEGER not null,             -- gen: choice(5, 10, 15)
  active INTEGER not null           -- gen: choice(0, 1)
);
