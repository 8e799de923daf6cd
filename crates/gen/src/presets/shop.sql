-- gen: rows=100k
CREATE TABLE customer (
  id INTEGER PRIMARY KEY,         -- gen: sequence
  number TEXT NOT NULL UNIQUE,    -- gen: unique_hex(10)
  first_name TEXT NOT NULL,       -- gen: first_name
  last_name TEXT NOT NULL,        -- gen: last_name
  email TEXT NOT NULL UNIQUE,     -- gen: email
  phone TEXT,                     -- gen: null(0.3, phone)
  born DATE,                      -- gen: null(0.1, date('1940-01-01', '2007-01-01'))
  gender TEXT,                    -- gen: choice('f': 49, 'm': 48, 'x': 1, NULL: 2)
  company TEXT,                   -- gen: null(0.85, company)
  street TEXT NOT NULL,           -- gen: street
  house INTEGER NOT NULL,         -- gen: int(1, 250)
  postcode TEXT NOT NULL,         -- gen: postcode
  city TEXT NOT NULL,             -- gen: city
  country TEXT NOT NULL,          -- gen: country
  language TEXT NOT NULL,         -- gen: choice('en': 60, 'de': 15, 'fr': 10, 'es': 10, 'ja': 5)
  currency TEXT NOT NULL,         -- gen: choice('USD': 55, 'EUR': 35, 'GBP': 6, 'JPY': 4)
  segment TEXT NOT NULL,          -- gen: choice('consumer': 80, 'small': 14, 'large': 5, 'public': 1)
  newsletter INTEGER NOT NULL,    -- gen: bool(0.3)
  points INTEGER NOT NULL,        -- gen: exponential(0.002, decimals=0)
  credit DECIMAL(10, 2),          -- gen: null(0.7, real(0, 5000, 2))
  created_at TIMESTAMP NOT NULL,  -- gen: timestamp('2015-01-01', '2020-01-01')
  seen_at TIMESTAMP,              -- gen: null(0.1, timestamp('2020-01-01', '2026-01-01'))
  note TEXT,                      -- gen: null(0.95, text(20, 200))
  active INTEGER NOT NULL         -- gen: bool(0.92)
);

-- gen: rows=10k
CREATE TABLE product (
  id INTEGER PRIMARY KEY,         -- gen: sequence
  sku TEXT NOT NULL UNIQUE,       -- gen: unique_hex(8)
  name TEXT NOT NULL,             -- gen: text(8, 40)
  brand TEXT NOT NULL,            -- gen: company
  category TEXT NOT NULL,         -- gen: choice('books': 30, 'home': 20, 'garden': 12, 'toys': 12, 'sport': 10, 'music': 8, 'food': 5, 'tools': 3)
  description TEXT,               -- gen: null(0.02, text(80, 400))
  price DECIMAL(10, 2) NOT NULL,  -- gen: lognormal(3.2, 1, min=0.5, max=5000, decimals=2)
  cost DECIMAL(10, 2) NOT NULL,   -- gen: round(price * real(0.3, 0.9), 2)
  tax REAL NOT NULL,              -- gen: choice(0.19: 80, 0.07: 20)
  weight_g INTEGER,               -- gen: null(0.05, lognormal(6, 1.2, min=5, max=100000, decimals=0))
  width_mm INTEGER,               -- gen: null(0.1, int(5, 2_000))
  height_mm INTEGER,              -- gen: null(0.1, int(5, 2_000))
  depth_mm INTEGER,               -- gen: null(0.1, int(1, 2_000))
  colour TEXT,                    -- gen: choice('black': 30, 'white': 25, 'grey': 15, 'blue': 10, 'red': 10, 'green': 5, NULL: 5)
  barcode TEXT,                   -- gen: digits(13)
  stock INTEGER NOT NULL,         -- gen: int(0, 500)
  reorder_at INTEGER NOT NULL,    -- gen: choice(0, 10, 25, 50, 100)
  supplier TEXT NOT NULL,         -- gen: company
  origin TEXT,                    -- gen: country
  url TEXT,                       -- gen: url
  released DATE NOT NULL,         -- gen: date('2010-01-01', '2025-01-01')
  attributes JSON,                -- gen: json
  active INTEGER NOT NULL         -- gen: bool(0.85)
);

-- gen: rows=1m
CREATE TABLE purchase (
  id INTEGER PRIMARY KEY,                             -- gen: sequence
  customer INTEGER NOT NULL REFERENCES customer(id),  -- gen: ref(customer.id, zipf(0.8))
  ordered_at TIMESTAMP NOT NULL,                      -- gen: timestamp('2020-01-01', '2026-01-01')
  status TEXT NOT NULL,                               -- gen: choice('delivered': 84, 'shipped': 6, 'paid': 4, 'new': 2, 'cancelled': 3, 'returned': 1)
  channel TEXT NOT NULL,                              -- gen: choice('web': 60, 'app': 32, 'phone': 5, 'store': 3)
  payment TEXT NOT NULL,                              -- gen: choice('card': 55, 'wallet': 25, 'invoice': 15, 'transfer': 5)
  currency TEXT NOT NULL,                             -- gen: customer.currency
  goods DECIMAL(10, 2) NOT NULL,                      -- gen: lognormal(4, 0.9, min=1, max=20000, decimals=2)
  shipping DECIMAL(10, 2) NOT NULL,                   -- gen: choice(0: 50, 4.9: 35, 9.9: 15)
  tax DECIMAL(10, 2) NOT NULL,                        -- gen: round(goods * 0.19, 2)
  discount DECIMAL(10, 2),                            -- gen: null(0.8, real(1, 50, 2))
  coupon TEXT,                                        -- gen: null(0.93, hex(8))
  carrier TEXT,                                       -- gen: choice('post': 50, 'courier': 35, 'express': 10, NULL: 5)
  tracking TEXT,                                      -- gen: null(0.1, digits(14))
  shipped_at TIMESTAMP,                               -- gen: null(0.1, date_add(ordered_at, int(2, 200), 'hours'))
  street TEXT NOT NULL,                               -- gen: customer.street
  postcode TEXT NOT NULL,                             -- gen: customer.postcode
  city TEXT NOT NULL,                                 -- gen: customer.city
  country TEXT NOT NULL,                              -- gen: customer.country
  ip TEXT,                                            -- gen: ipv4
  gift INTEGER NOT NULL,                              -- gen: bool(0.04)
  note TEXT                                           -- gen: null(0.97, text(10, 120))
);

CREATE TABLE line (
  id INTEGER PRIMARY KEY,                             -- gen: sequence
  purchase INTEGER NOT NULL REFERENCES purchase(id),  -- gen: ref(purchase.id, per_parent(choice(1: 30, 2: 25, 3: 15, 4: 11, 5: 8, 6: 5, 8: 3, 12: 3)))
  product INTEGER NOT NULL REFERENCES product(id),    -- gen: ref(product.id, zipf(1.1))
  quantity INTEGER NOT NULL,                          -- gen: choice(1: 75, 2: 15, 3: 5, 4: 3, 10: 2)
  price DECIMAL(10, 2) NOT NULL,                      -- gen: product.price
  discount DECIMAL(10, 2) NOT NULL,                   -- gen: choice(0: 90, 0.1: 7, 0.25: 3)
  tax REAL NOT NULL,                                  -- gen: product.tax
  warehouse TEXT NOT NULL,                            -- gen: choice('north': 50, 'south': 30, 'east': 20)
  bin TEXT,                                           -- gen: digits(4)
  state TEXT NOT NULL,                                -- gen: choice('sent': 95, 'open': 3, 'back': 2)
  serial TEXT,                                        -- gen: null(0.9, hex(12))
  gift_wrap INTEGER NOT NULL,                         -- gen: bool(0.03)
  returned_at TIMESTAMP,                              -- gen: null(0.97, date_add(purchase.ordered_at, int(3, 60), 'days'))
  reason TEXT,                                        -- gen: CASE WHEN returned_at IS NULL THEN NULL ELSE choice('size': 4, 'broken', 'other': 2) END
  weight_g INTEGER NOT NULL                           -- gen: coalesce(product.weight_g, 100) * quantity
);

-- gen: rows=200k
CREATE TABLE review (
  id INTEGER PRIMARY KEY,                                -- gen: sequence
  product INTEGER NOT NULL REFERENCES product(id),       -- gen: ref(product.id, zipf(1.1))
  customer INTEGER NOT NULL REFERENCES customer(id),     -- gen: ref(customer.id, zipf(0.8))
  stars INTEGER NOT NULL,                                -- gen: choice(5: 55, 4: 22, 3: 9, 2: 5, 1: 9)
  title TEXT,                                            -- gen: null(0.2, text(5, 40))
  body TEXT,                                             -- gen: null(0.1, sentences(1, 8))
  written_at TIMESTAMP NOT NULL,                         -- gen: timestamp('2020-01-01', '2026-01-01')
  edited_at TIMESTAMP,                                   -- gen: null(0.95, date_add(written_at, int(1, 90), 'days'))
  helpful INTEGER NOT NULL,                              -- gen: choice(0: 70, 1: 15, 2: 8, 3: 4, 10: 2, 50: 1)
  reported INTEGER NOT NULL,                             -- gen: bool(0.005)
  verified INTEGER NOT NULL,                             -- gen: bool(0.9)
  language TEXT NOT NULL,                                -- gen: customer.language
  images INTEGER NOT NULL,                               -- gen: choice(0: 85, 1: 10, 2: 3, 3: 2)
  device TEXT,                                           -- gen: choice('phone': 60, 'desktop': 30, 'tablet': 10)
  reply TEXT,                                            -- gen: null(0.93, text(20, 200))
  state TEXT NOT NULL                                    -- gen: choice('shown': 96, 'held': 3, 'removed': 1)
);

CREATE INDEX customer_name ON customer(last_name, first_name);
CREATE INDEX product_category ON product(category, price);
CREATE INDEX purchase_customer ON purchase(customer, ordered_at);
CREATE INDEX purchase_ordered_at ON purchase(ordered_at);
CREATE INDEX line_purchase ON line(purchase);
CREATE INDEX line_product ON line(product);
CREATE INDEX review_product ON review(product, stars);
