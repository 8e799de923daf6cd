-- The tables of the TPC-H benchmark: foreign keys of two columns, decimals, dates as text, keys that are no rowids.
CREATE TABLE region (r_regionkey INTEGER PRIMARY KEY, r_name TEXT NOT NULL, r_comment TEXT);
CREATE TABLE nation (n_nationkey INTEGER PRIMARY KEY, n_name TEXT NOT NULL, n_regionkey INTEGER NOT NULL REFERENCES region, n_comment TEXT);
CREATE TABLE part (p_partkey INTEGER PRIMARY KEY, p_name TEXT NOT NULL, p_mfgr TEXT NOT NULL, p_size INTEGER NOT NULL, p_retailprice REAL NOT NULL);
CREATE TABLE supplier (s_suppkey INTEGER PRIMARY KEY, s_name TEXT NOT NULL, s_nationkey INTEGER NOT NULL REFERENCES nation, s_acctbal REAL NOT NULL);
CREATE TABLE partsupp (ps_partkey INTEGER NOT NULL REFERENCES part, ps_suppkey INTEGER NOT NULL REFERENCES supplier, ps_availqty INTEGER NOT NULL, ps_supplycost REAL NOT NULL, PRIMARY KEY (ps_partkey, ps_suppkey)) WITHOUT ROWID;
CREATE TABLE customer (c_custkey INTEGER PRIMARY KEY, c_name TEXT NOT NULL, c_nationkey INTEGER NOT NULL REFERENCES nation, c_acctbal REAL NOT NULL);
CREATE TABLE orders (o_orderkey INTEGER PRIMARY KEY, o_custkey INTEGER NOT NULL REFERENCES customer, o_orderstatus TEXT NOT NULL, o_totalprice REAL NOT NULL, o_orderdate TEXT NOT NULL);
CREATE TABLE lineitem (l_orderkey INTEGER NOT NULL REFERENCES orders, l_linenumber INTEGER NOT NULL, l_partkey INTEGER NOT NULL, l_suppkey INTEGER NOT NULL, l_quantity INTEGER NOT NULL, l_extendedprice REAL NOT NULL, l_shipdate TEXT NOT NULL, PRIMARY KEY (l_orderkey, l_linenumber));
CREATE INDEX lineitem_shipdate ON lineitem (l_shipdate);
CREATE INDEX orders_customer ON orders (o_custkey);
CREATE INDEX orders_date_status ON orders (o_orderdate DESC, o_orderstatus);
-- rows
ALTER TABLE orders ADD COLUMN o_clerk TEXT NOT NULL DEFAULT 'Clerk#000000001';
CREATE INDEX orders_clerk ON orders (o_clerk, o_orderdate);
CREATE VIEW revenue AS SELECT l_suppkey AS supplier_no, sum(l_extendedprice) AS total FROM lineitem GROUP BY l_suppkey ORDER BY l_suppkey;
