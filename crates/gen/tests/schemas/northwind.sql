-- A trading company, in the form of Northwind: names with blanks, keys of texts, CHECKs on dates and numbers.
CREATE TABLE Categories (CategoryID INTEGER PRIMARY KEY AUTOINCREMENT, CategoryName TEXT, Description TEXT, Picture BLOB);
CREATE TABLE Customers (CustomerID TEXT PRIMARY KEY, CompanyName TEXT, ContactName TEXT, ContactTitle TEXT, Address TEXT, City TEXT, Region TEXT, PostalCode TEXT, Country TEXT, Phone TEXT, Fax TEXT);
CREATE TABLE Employees (EmployeeID INTEGER PRIMARY KEY AUTOINCREMENT, LastName TEXT, FirstName TEXT, Title TEXT, TitleOfCourtesy TEXT, BirthDate DATE, HireDate DATE, Address TEXT, City TEXT, Region TEXT,
  PostalCode TEXT, Country TEXT, HomePhone TEXT, Extension TEXT, Notes TEXT, ReportsTo INTEGER REFERENCES Employees (EmployeeID), PhotoPath TEXT);
CREATE TABLE Regions (RegionID INTEGER PRIMARY KEY, RegionDescription TEXT NOT NULL);
CREATE TABLE Territories (TerritoryID TEXT NOT NULL PRIMARY KEY, TerritoryDescription TEXT NOT NULL, RegionID INTEGER NOT NULL REFERENCES Regions (RegionID));
CREATE TABLE EmployeeTerritories (EmployeeID INTEGER NOT NULL REFERENCES Employees (EmployeeID), TerritoryID TEXT NOT NULL REFERENCES Territories (TerritoryID), PRIMARY KEY (EmployeeID, TerritoryID));
CREATE TABLE Shippers (ShipperID INTEGER PRIMARY KEY AUTOINCREMENT, CompanyName TEXT NOT NULL, Phone TEXT);
CREATE TABLE Suppliers (SupplierID INTEGER PRIMARY KEY AUTOINCREMENT, CompanyName TEXT NOT NULL, ContactName TEXT, ContactTitle TEXT, Address TEXT, City TEXT, Region TEXT, PostalCode TEXT, Country TEXT, Phone TEXT, Fax TEXT, HomePage TEXT);
CREATE TABLE Products (ProductID INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, ProductName TEXT NOT NULL, SupplierID INTEGER REFERENCES Suppliers (SupplierID), CategoryID INTEGER REFERENCES Categories (CategoryID),
  QuantityPerUnit TEXT, UnitPrice NUMERIC DEFAULT 0, UnitsInStock INTEGER DEFAULT 0, UnitsOnOrder INTEGER DEFAULT 0, ReorderLevel INTEGER DEFAULT 0, Discontinued TEXT NOT NULL DEFAULT '0',
  CHECK (UnitPrice >= 0), CHECK (ReorderLevel >= 0), CHECK (UnitsInStock >= 0), CHECK (UnitsOnOrder >= 0));
CREATE TABLE Orders (OrderID INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, CustomerID TEXT REFERENCES Customers (CustomerID), EmployeeID INTEGER REFERENCES Employees (EmployeeID), OrderDate DATETIME,
  RequiredDate DATETIME, ShippedDate DATETIME, ShipVia INTEGER REFERENCES Shippers (ShipperID), Freight NUMERIC DEFAULT 0, ShipName TEXT, ShipAddress TEXT, ShipCity TEXT, ShipRegion TEXT, ShipPostalCode TEXT, ShipCountry TEXT);
CREATE TABLE "Order Details" (OrderID INTEGER NOT NULL REFERENCES Orders (OrderID), ProductID INTEGER NOT NULL REFERENCES Products (ProductID), UnitPrice NUMERIC NOT NULL DEFAULT 0, Quantity INTEGER NOT NULL DEFAULT 1,
  Discount REAL NOT NULL DEFAULT 0, PRIMARY KEY (OrderID, ProductID), CHECK (Discount >= 0 AND Discount <= 1), CHECK (Quantity > 0), CHECK (UnitPrice >= 0));
