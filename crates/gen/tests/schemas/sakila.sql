-- A video rental, in the form of Sakila: LIKE and IN in CHECKs, a key of three columns with a time.
CREATE TABLE actor (actor_id INTEGER PRIMARY KEY, first_name VARCHAR(45) NOT NULL, last_name VARCHAR(45) NOT NULL, last_update TIMESTAMP NOT NULL);
CREATE TABLE country (country_id INTEGER PRIMARY KEY, country VARCHAR(50) NOT NULL, last_update TIMESTAMP);
CREATE TABLE city (city_id INTEGER PRIMARY KEY, city VARCHAR(50) NOT NULL, country_id SMALLINT NOT NULL REFERENCES country (country_id), last_update TIMESTAMP NOT NULL);
CREATE TABLE address (address_id INTEGER PRIMARY KEY, address VARCHAR(50) NOT NULL, address2 VARCHAR(50) DEFAULT NULL, district VARCHAR(20) NOT NULL, city_id INTEGER NOT NULL REFERENCES city (city_id),
  postal_code VARCHAR(10) DEFAULT NULL, phone VARCHAR(20) NOT NULL, last_update TIMESTAMP NOT NULL);
CREATE TABLE language (language_id INTEGER PRIMARY KEY, name CHAR(20) NOT NULL, last_update TIMESTAMP NOT NULL);
CREATE TABLE category (category_id INTEGER PRIMARY KEY, name VARCHAR(25) NOT NULL, last_update TIMESTAMP NOT NULL);
CREATE TABLE store (store_id INTEGER PRIMARY KEY, address_id INTEGER NOT NULL REFERENCES address (address_id), last_update TIMESTAMP NOT NULL);
CREATE TABLE staff (staff_id INTEGER PRIMARY KEY, first_name VARCHAR(45) NOT NULL, last_name VARCHAR(45) NOT NULL, address_id INTEGER NOT NULL REFERENCES address (address_id), picture BLOB DEFAULT NULL, email VARCHAR(50) DEFAULT NULL,
  store_id INTEGER NOT NULL REFERENCES store (store_id), active SMALLINT DEFAULT 1 NOT NULL, username VARCHAR(16) NOT NULL, password VARCHAR(40) DEFAULT NULL, last_update TIMESTAMP NOT NULL);
CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, store_id INTEGER NOT NULL REFERENCES store (store_id), first_name VARCHAR(45) NOT NULL, last_name VARCHAR(45) NOT NULL, email VARCHAR(50) DEFAULT NULL,
  address_id INTEGER NOT NULL REFERENCES address (address_id), active CHAR(1) DEFAULT 'Y' NOT NULL, create_date TIMESTAMP NOT NULL, last_update TIMESTAMP NOT NULL);
CREATE TABLE film (film_id INTEGER PRIMARY KEY, title VARCHAR(255) NOT NULL, description TEXT DEFAULT NULL, release_year VARCHAR(4) DEFAULT NULL, language_id SMALLINT NOT NULL REFERENCES language (language_id),
  original_language_id SMALLINT DEFAULT NULL REFERENCES language (language_id), rental_duration SMALLINT DEFAULT 3 NOT NULL, rental_rate DECIMAL(4,2) DEFAULT 4.99 NOT NULL, length SMALLINT DEFAULT NULL,
  replacement_cost DECIMAL(5,2) DEFAULT 19.99 NOT NULL, rating VARCHAR(10) DEFAULT 'G', special_features VARCHAR(100) DEFAULT NULL, last_update TIMESTAMP NOT NULL,
  CONSTRAINT special CHECK (special_features IS NULL OR special_features LIKE '%Trailers%' OR special_features LIKE '%Commentaries%' OR special_features LIKE '%Deleted Scenes%' OR special_features LIKE '%Behind the Scenes%'),
  CONSTRAINT rated CHECK (rating IN ('G','PG','PG-13','R','NC-17')));
CREATE TABLE film_actor (actor_id INTEGER NOT NULL REFERENCES actor (actor_id), film_id INTEGER NOT NULL REFERENCES film (film_id), last_update TIMESTAMP NOT NULL, PRIMARY KEY (actor_id, film_id));
CREATE TABLE film_category (film_id INTEGER NOT NULL REFERENCES film (film_id), category_id SMALLINT NOT NULL REFERENCES category (category_id), last_update TIMESTAMP NOT NULL, PRIMARY KEY (film_id, category_id));
CREATE TABLE inventory (inventory_id INTEGER PRIMARY KEY, film_id INTEGER NOT NULL REFERENCES film (film_id), store_id INTEGER NOT NULL REFERENCES store (store_id), last_update TIMESTAMP NOT NULL);
CREATE TABLE rental (rental_id INTEGER PRIMARY KEY, rental_date TIMESTAMP NOT NULL, inventory_id INTEGER NOT NULL REFERENCES inventory (inventory_id), customer_id INTEGER NOT NULL REFERENCES customer (customer_id),
  return_date TIMESTAMP DEFAULT NULL, staff_id INTEGER NOT NULL REFERENCES staff (staff_id), last_update TIMESTAMP NOT NULL);
CREATE TABLE payment (payment_id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer (customer_id), staff_id INTEGER NOT NULL REFERENCES staff (staff_id), rental_id INTEGER DEFAULT NULL REFERENCES rental (rental_id),
  amount DECIMAL(5,2) NOT NULL, payment_date TIMESTAMP NOT NULL, last_update TIMESTAMP NOT NULL);
CREATE UNIQUE INDEX idx_rental_uq ON rental (rental_date, inventory_id, customer_id);
