-- gen: rows=100k
CREATE TABLE customer (
  id INTEGER PRIMARY KEY,         -- gen: sequence
  number TEXT NOT NULL UNIQUE,    -- gen: unique_regex('[A-Z]{2}[0-9]{8}')
  first_name TEXT NOT NULL,       -- gen: CASE gender WHEN 'f' THEN coalesce(place_of(city, 'first_female', digits(9)), phrase('{first_female}')) WHEN 'm' THEN coalesce(place_of(city, 'first_male', digits(9)), phrase('{first_male}')) ELSE phrase('{first}') END
  last_name TEXT NOT NULL,        -- gen: coalesce(place_of(city, 'last', digits(9)), phrase('{last}'))
  email TEXT NOT NULL UNIQUE,     -- gen: slug(first_name || ' ' || last_name, '.') || sequence() || choice('@example.com': 6, '@example.net': 2, '@example.org': 2)
  phone TEXT,                     -- gen: null(0.3, place_of(city, 'phone', digits(8)))
  born DATE,                      -- gen: null(0.1, date('1940-01-01', '2007-01-01'))
  gender TEXT,                    -- gen: choice('f': 49, 'm': 48, 'x': 1, NULL: 2)
  company TEXT,                   -- gen: null(0.85, phrase('{company}'))
  street TEXT NOT NULL,           -- gen: phrase('{street_name} {street_kind}')
  house INTEGER NOT NULL,         -- gen: int(1, 250)
  postcode TEXT NOT NULL,         -- gen: place_of(city, 'postcode', digits(8))
  city TEXT NOT NULL,             -- gen: place('city')
  country TEXT NOT NULL,          -- gen: place_of(city, 'country')
  language TEXT NOT NULL,         -- gen: place_of(city, 'language')
  currency TEXT NOT NULL,         -- gen: CASE place_of(city, 'currency') WHEN 'EUR' THEN 'EUR' WHEN 'GBP' THEN 'GBP' ELSE 'USD' END
  segment TEXT NOT NULL,          -- gen: if(company IS NULL, 'consumer', choice('small': 75, 'large': 20, 'public': 5))
  newsletter INTEGER NOT NULL,    -- gen: bool(0.3)
  points INTEGER NOT NULL,        -- gen: exponential(0.002, decimals=0)
  credit DECIMAL(10, 2),          -- gen: null(0.7, real(0, 5000, 2))
  created_at TIMESTAMP NOT NULL,  -- gen: events('2015-01-01', '2020-01-01')
  seen_at TIMESTAMP,              -- gen: null(0.1, timestamp('2025-10-01', '2026-01-01'))
  note TEXT,                      -- gen: null(0.95, phrase('{note}'))
  active INTEGER NOT NULL         -- gen: bool(0.92)
);

-- gen: rows=10k
CREATE TABLE product (
  id INTEGER PRIMARY KEY,         -- gen: sequence
  sku TEXT NOT NULL UNIQUE,       -- gen: unique_regex('[A-Z]{3}-[0-9]{6}')
  name TEXT NOT NULL,             -- gen: product_of(category, digits(9))
  brand TEXT NOT NULL,            -- gen: CASE WHEN substr(name, 1, instr(name, ' ') - 1) IN ('Classic', 'Deluxe', 'Essential', 'Everyday', 'Premium', 'Signature', 'Standard', 'Original') THEN phrase('{brand}') ELSE substr(name, 1, instr(name, ' ') - 1) END
  category TEXT NOT NULL,         -- gen: choice('Books': 30, 'Kitchen': 20, 'Garden': 12, 'Toys': 12, 'Sports': 10, 'Bags': 8, 'Grocery': 5, 'Tools': 3)
  description TEXT,               -- gen: null(0.02, phrase('{shop_text}') || if(bool(0.15), ' A favourite since ' || substr(released, 1, 4) || '.', ''))
  price DECIMAL(10, 2) NOT NULL,  -- gen: price(3, 90)
  cost DECIMAL(10, 2) NOT NULL,   -- gen: round(price * real(0.3, 0.9), 2)
  tax REAL NOT NULL,              -- gen: constant(0.19)
  weight_g INTEGER,               -- gen: null(0.05, lognormal(6, 1.2, min=5, max=100000, decimals=0))
  width_mm INTEGER,               -- gen: null(0.1, lognormal(5.2, 0.5, min=20, max=900, decimals=0))
  height_mm INTEGER,              -- gen: null(0.1, lognormal(5.2, 0.5, min=20, max=900, decimals=0))
  depth_mm INTEGER,               -- gen: null(0.1, lognormal(4.2, 0.7, min=4, max=600, decimals=0))
  colour TEXT,                    -- gen: choice('black': 30, 'white': 25, 'grey': 15, 'blue': 10, 'red': 10, 'green': 5, NULL: 5)
  barcode TEXT,                   -- gen: ean
  stock INTEGER NOT NULL,         -- gen: int(0, 500)
  reorder_at INTEGER NOT NULL,    -- gen: choice(0, 10, 25, 50, 100)
  supplier TEXT NOT NULL,         -- gen: phrase('{company}')
  origin TEXT,                    -- gen: country
  url TEXT,                       -- gen: 'https://shop.example.com/' || slug(name) || '-' || id
  released DATE NOT NULL,         -- gen: date('2010-01-01', '2020-01-01')
  attributes JSON,                -- gen: object(eco: bool(0.2), fragile: bool(0.1), pieces: choice(1: 80, 2: 10, 4: 6, 6: 4))
  active INTEGER NOT NULL         -- gen: bool(0.85)
);

-- gen: rows=1m
CREATE TABLE purchase (
  id INTEGER PRIMARY KEY,                             -- gen: sequence
  customer INTEGER NOT NULL REFERENCES customer(id),  -- gen: ref(customer.id, zipf(0.8))
  ordered_at TIMESTAMP NOT NULL,                      -- gen: events('2020-01-01', '2026-01-01')
  status TEXT NOT NULL,                               -- gen: if(ordered_at < '2025-12-15', choice('delivered': 94, 'cancelled': 4, 'returned': 2), choice('shipped': 60, 'paid': 25, 'new': 11, 'cancelled': 4))
  channel TEXT NOT NULL,                              -- gen: choice('web': 60, 'app': 32, 'phone': 5, 'store': 3)
  payment TEXT NOT NULL,                              -- gen: choice('card': 55, 'wallet': 25, 'invoice': 15, 'transfer': 5)
  currency TEXT NOT NULL,                             -- gen: customer.currency
  goods DECIMAL(10, 2) NOT NULL,                      -- gen: round(sum_of(line.price * line.quantity), 2)
  shipping DECIMAL(10, 2) NOT NULL,                   -- gen: if(goods > 60, 0, choice(4.9: 70, 9.9: 30))
  tax DECIMAL(10, 2) NOT NULL,                        -- gen: round(goods * 0.19, 2)
  discount DECIMAL(10, 2),                            -- gen: null(0.8, round(goods * choice(0.05: 4, 0.1: 4, 0.2: 2), 2))
  coupon TEXT,                                        -- gen: if(discount IS NULL, NULL, null(0.4, phrase('{coupon}')))
  carrier TEXT,                                       -- gen: if(shipped_at IS NULL, NULL, choice('post': 50, 'courier': 35, 'express': 15))
  tracking TEXT,                                      -- gen: if(shipped_at IS NULL, NULL, null(0.1, digits(14)))
  shipped_at TIMESTAMP,                               -- gen: if(status IN ('delivered', 'shipped', 'returned'), date_add(ordered_at, max(60, min(int(7200, 720_000), date_diff(ordered_at, '2026-01-01', 'seconds') - int(60, 80_000))), 'seconds'), NULL)
  street TEXT NOT NULL,                               -- gen: customer.street || ' ' || customer.house
  postcode TEXT NOT NULL,                             -- gen: customer.postcode
  city TEXT NOT NULL,                                 -- gen: customer.city
  country TEXT NOT NULL,                              -- gen: customer.country
  ip TEXT,                                            -- gen: ipv4
  gift INTEGER NOT NULL,                              -- gen: bool(0.04)
  note TEXT                                           -- gen: null(0.97, phrase('{note}'))
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
  state TEXT NOT NULL,                                -- gen: CASE purchase.status WHEN 'returned' THEN 'back' WHEN 'cancelled' THEN 'cancelled' WHEN 'paid' THEN 'open' WHEN 'new' THEN 'open' ELSE 'sent' END
  serial TEXT,                                        -- gen: null(0.9, hex(12))
  gift_wrap INTEGER NOT NULL,                         -- gen: bool(0.03)
  returned_at TIMESTAMP,                              -- gen: if(state = 'back', date_add(purchase.ordered_at, int(864_000, 1_468_000), 'seconds'), NULL)
  reason TEXT,                                        -- gen: CASE WHEN returned_at IS NULL THEN NULL ELSE choice('size': 4, 'broken', 'other': 2) END
  weight_g INTEGER NOT NULL                           -- gen: coalesce(product.weight_g, 100) * quantity
);

-- gen: rows=200k
CREATE TABLE review (
  id INTEGER PRIMARY KEY,                             -- gen: sequence
  product INTEGER NOT NULL REFERENCES product(id),    -- gen: ref(product.id, via(line.product, once=TRUE))
  customer INTEGER NOT NULL REFERENCES customer(id),  -- gen: ref(customer.id, along(product, line.purchase, purchase.customer))
  stars INTEGER NOT NULL,                             -- gen: if(line.state = 'sent', choice(5: 57, 4: 23, 3: 9, 2: 4, 1: 7), choice(2: 3, 1: 5))
  title TEXT,                                         -- gen: null(0.2, CASE WHEN line.state = 'open' THEN phrase('{review_title_waiting}') WHEN line.state = 'cancelled' THEN phrase('{review_title_cancelled}') WHEN stars > 3 THEN phrase('{review_title_good}') WHEN stars = 3 THEN phrase('{review_title_mixed}') ELSE phrase('{review_title_bad}') END)
  body TEXT,                                          -- gen: null(0.1, CASE WHEN line.state = 'open' THEN phrase('{review_waiting}') WHEN line.state = 'cancelled' THEN phrase('{review_cancelled}') WHEN stars > 3 THEN phrase('{review_good}') WHEN stars = 3 THEN phrase('{review_mixed}') ELSE phrase('{review_bad}') END)
  written_at TIMESTAMP NOT NULL,                      -- gen: min(max(events('2020-01-25', '2026-01-01'), date_add(coalesce(line.purchase.shipped_at, line.purchase.ordered_at), int(43_200, 260_000), 'seconds')), max(line.purchase.ordered_at, date_add('2025-12-31 23:59:59', int(-172_800, 0), 'seconds')))
  edited_at TIMESTAMP,                                -- gen: null(0.95, if(written_at < '2025-10-01', date_add(written_at, int(86_400, 7_776_000), 'seconds'), NULL))
  helpful INTEGER NOT NULL,                           -- gen: choice(0: 70, 1: 15, 2: 8, 3: 4, 10: 2, 50: 1)
  reported INTEGER NOT NULL,                          -- gen: bool(0.005)
  verified INTEGER NOT NULL,                          -- gen: bool(0.9)
  language TEXT NOT NULL,                             -- gen: constant('en')
  images INTEGER NOT NULL,                            -- gen: choice(0: 85, 1: 10, 2: 3, 3: 2)
  device TEXT,                                        -- gen: choice('phone': 60, 'desktop': 30, 'tablet': 10)
  reply TEXT,                                         -- gen: null(0.93, if(stars > 3, 'Thank you!', 'We are sorry to hear that. Please write to us.'))
  state TEXT NOT NULL                                 -- gen: choice('shown': 96, 'held': 3, 'removed': 1)
);

CREATE INDEX customer_name ON customer(last_name, first_name);
CREATE INDEX product_category ON product(category, price);
CREATE INDEX purchase_customer ON purchase(customer, ordered_at);
CREATE INDEX purchase_ordered_at ON purchase(ordered_at);
CREATE INDEX line_purchase ON line(purchase);
CREATE INDEX line_product ON line(product);
CREATE INDEX review_product ON review(product, stars);
