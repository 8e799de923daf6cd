-- A shop made with Rails: belongs_to without foreign keys, polymorphic associations, counters, a state machine.
CREATE TABLE users (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, email VARCHAR DEFAULT '' NOT NULL, encrypted_password VARCHAR DEFAULT '' NOT NULL, reset_password_token VARCHAR, reset_password_sent_at DATETIME(6), remember_created_at DATETIME(6), sign_in_count INTEGER DEFAULT 0 NOT NULL, current_sign_in_at DATETIME(6), last_sign_in_at DATETIME(6),
  current_sign_in_ip VARCHAR, last_sign_in_ip VARCHAR, first_name VARCHAR, middle_name VARCHAR, last_name VARCHAR, gender VARCHAR(6), date_of_birth DATE, admin BOOLEAN DEFAULT 0 NOT NULL, created_at DATETIME(6) NOT NULL, updated_at DATETIME(6) NOT NULL);
CREATE UNIQUE INDEX index_users_on_email ON users (email);
CREATE UNIQUE INDEX index_users_on_reset_password_token ON users (reset_password_token);
CREATE TABLE vendors (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name VARCHAR NOT NULL, email VARCHAR, website VARCHAR, active BOOLEAN DEFAULT 1 NOT NULL, created_at DATETIME(6) NOT NULL, updated_at DATETIME(6) NOT NULL);
CREATE TABLE products (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, vendor_id BIGINT, name VARCHAR NOT NULL, description TEXT, slug VARCHAR, price_cents INTEGER DEFAULT 0 NOT NULL, currency VARCHAR DEFAULT 'USD' NOT NULL, discontinue_on DATETIME(6), deleted_at DATETIME(6), lock_version INTEGER DEFAULT 0 NOT NULL, created_at DATETIME(6) NOT NULL, updated_at DATETIME(6) NOT NULL);
CREATE UNIQUE INDEX index_products_on_slug ON products (slug);
CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, user_id BIGINT, number VARCHAR(32), state VARCHAR, item_total DECIMAL(10,2) DEFAULT 0.0 NOT NULL, total DECIMAL(10,2) DEFAULT 0.0 NOT NULL, completed_at DATETIME(6), canceled_at DATETIME(6), shipment_state VARCHAR, payment_state VARCHAR, email VARCHAR, special_instructions TEXT, created_at DATETIME(6) NOT NULL, updated_at DATETIME(6) NOT NULL);
CREATE UNIQUE INDEX index_orders_on_number ON orders (number);
CREATE TABLE line_items (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, order_id BIGINT NOT NULL, product_id BIGINT NOT NULL, quantity INTEGER NOT NULL, price DECIMAL(10,2) NOT NULL, total DECIMAL(10,2) NOT NULL, created_at DATETIME(6) NOT NULL, updated_at DATETIME(6) NOT NULL);
CREATE TABLE taggings (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, tag_id BIGINT NOT NULL, product_id BIGINT NOT NULL, created_at DATETIME(6));
CREATE UNIQUE INDEX taggings_idx ON taggings (tag_id, product_id);
CREATE TABLE tags (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name VARCHAR, taggings_count INTEGER DEFAULT 0);
CREATE UNIQUE INDEX index_tags_on_name ON tags (name);
