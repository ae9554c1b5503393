-- Customers and what they owe.
CREATE TABLE shop.customer (
    id integer PRIMARY KEY,
    name text NOT NULL,
    city text
);

CREATE INDEX customer_by_city ON shop.customer (city);

/* Only those who owe something. */
CREATE VIEW debtor AS
SELECT c.id, c.name
FROM shop.customer c
WHERE c.id IN (SELECT customer_id FROM invoice WHERE NOT paid);

CREATE FUNCTION owed(customer integer) RETURNS integer AS $$
    SELECT sum(amount) FROM invoice WHERE customer_id = customer
$$ LANGUAGE sql;

INSERT INTO shop.customer (id, name) VALUES (1, 'Ada');
UPDATE shop.customer SET city = 'London' WHERE id = 1;
