// Package adbc_test runs the validation suite of ADBC against the driver, as a program in Go that loads it by the driver manager.
package adbc_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-adbc/go/adbc/drivermgr"
	"github.com/apache/arrow-adbc/go/adbc/validation"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"github.com/stretchr/testify/suite"
)

// driver is the driver as the suite needs it: the suite reads names of columns after the reader of GetObjects has released them.
type driver struct{ drivermgr.Driver }

type database struct{ adbc.Database }

type connection struct {
	adbc.Connection
	kept *[]arrow.RecordBatch
}

// keepingReader keeps its records until the connection is closed.
type keepingReader struct {
	array.RecordReader
	kept *[]arrow.RecordBatch
}

func (d driver) NewDatabase(options map[string]string) (adbc.Database, error) {
	made, err := d.Driver.NewDatabase(options)
	return database{made}, err
}

func (d database) Open(ctx context.Context) (adbc.Connection, error) {
	opened, err := d.Database.Open(ctx)
	return connection{opened, new([]arrow.RecordBatch)}, err
}

func (c connection) GetObjects(
	ctx context.Context, depth adbc.ObjectDepth, catalog, schema, table, column *string, types []string,
) (array.RecordReader, error) {
	reader, err := c.Connection.GetObjects(ctx, depth, catalog, schema, table, column, types)
	return keepingReader{reader, c.kept}, err
}

func (c connection) Close() error {
	for _, record := range *c.kept {
		record.Release()
	}
	*c.kept = nil
	return c.Connection.Close()
}

func (r keepingReader) Next() bool {
	if !r.RecordReader.Next() {
		return false
	}
	r.RecordBatch().Retain()
	*r.kept = append(*r.kept, r.RecordBatch())
	return true
}

// quirks tells the suite what the driver claims. Every test has a database of its own.
//
// The suite wants the status "internal" for a table that exists. ADBC 1.1 says "already exists", and so does the driver:
// TestIngestErrors looks at it.
type quirks struct {
	t   *testing.T
	uri string
	mem *memory.CheckedAllocator
}

func (q *quirks) SetupDriver(t *testing.T) adbc.Driver {
	q.t = t
	q.uri = filepath.Join(t.TempDir(), "validation.db")
	q.mem = memory.NewCheckedAllocator(memory.DefaultAllocator)
	return driver{}
}

func (q *quirks) TearDownDriver(t *testing.T, _ adbc.Driver) { q.mem.AssertSize(t, 0) }

func (q *quirks) DatabaseOptions() map[string]string {
	return map[string]string{"driver": os.Getenv("LITEPRESS_ADBC"), "uri": q.uri}
}

func (q *quirks) BindParameter(int) string                    { return "?" }
func (q *quirks) SupportsBulkIngest(string) bool              { return true }
func (q *quirks) SupportsConcurrentStatements() bool          { return true }
func (q *quirks) SupportsCurrentCatalogSchema() bool          { return true }
func (q *quirks) SupportsGetSetOptions() bool                 { return false } // The driver manager of Go has no such calls.
func (q *quirks) SupportsExecuteSchema() bool                 { return false } // Nor this one.
func (q *quirks) SupportsPartitionedData() bool               { return false }
func (q *quirks) SupportsStatistics() bool                    { return false }
func (q *quirks) SupportsTransactions() bool                  { return true }
func (q *quirks) SupportsGetParameterSchema() bool            { return true }
func (q *quirks) SupportsDynamicParameterBinding() bool       { return true }
func (q *quirks) SupportsErrorIngestIncompatibleSchema() bool { return false }
func (q *quirks) Catalog() string                             { return "main" }
func (q *quirks) DBSchema() string                            { return "" }
func (q *quirks) Alloc() memory.Allocator                     { return q.mem }

func (q *quirks) GetMetadata(code adbc.InfoCode) any {
	switch code {
	case adbc.InfoDriverName:
		return "ADBC litepress Driver"
	case adbc.InfoDriverADBCVersion:
		return adbc.AdbcVersion1_1_0
	case adbc.InfoVendorName:
		return "SQLite"
	case adbc.InfoDriverVersion:
		return os.Getenv("LITEPRESS_VERSION")
	case adbc.InfoDriverArrowVersion:
		return "v" + os.Getenv("ARROW_VERSION")
	case adbc.InfoVendorVersion:
		return os.Getenv("SQLITE_VERSION")
	}
	return nil
}

func (q *quirks) SampleTableSchemaMetadata(string, arrow.DataType) arrow.Metadata {
	return arrow.Metadata{}
}

func (q *quirks) CreateSampleTable(name string, rows arrow.RecordBatch) error {
	driver := drivermgr.Driver{}
	database, err := driver.NewDatabase(q.DatabaseOptions())
	if err != nil {
		return err
	}
	defer validation.CheckedClose(q.t, database)
	connection, err := database.Open(context.Background())
	if err != nil {
		return err
	}
	defer validation.CheckedClose(q.t, connection)
	statement, err := connection.NewStatement()
	if err != nil {
		return err
	}
	defer validation.CheckedClose(q.t, statement)
	if err := statement.SetOption(adbc.OptionKeyIngestTargetTable, name); err != nil {
		return err
	}
	if err := statement.Bind(context.Background(), rows); err != nil {
		return err
	}
	_, err = statement.ExecuteUpdate(context.Background())
	return err
}

func (q *quirks) DropTable(connection adbc.Connection, name string) error {
	statement, err := connection.NewStatement()
	if err != nil {
		return err
	}
	defer validation.CheckedClose(q.t, statement)
	if err := statement.SetSqlQuery(`DROP TABLE IF EXISTS "` + name + `"`); err != nil {
		return err
	}
	_, err = statement.ExecuteUpdate(context.Background())
	return err
}

// statementTests replaces the test that does not expect the kind of error that the driver manager of Go returns.
type statementTests struct{ validation.StatementTests }

func (s *statementTests) TestSqlPartitionedInts() {
	statement, err := s.Cnxn.NewStatement()
	s.Require().NoError(err)
	defer validation.CheckedClose(s.T(), statement)
	s.Require().NoError(statement.SetSqlQuery("SELECT 42"))
	_, _, _, err = statement.ExecutePartitions(context.Background())
	var failure *adbc.Error
	s.Require().ErrorAs(err, &failure)
	s.Equal(adbc.StatusNotImplemented, failure.Code)
}

func TestValidation(t *testing.T) {
	suite.Run(t, &validation.DatabaseTests{Quirks: &quirks{}})
	suite.Run(t, &validation.ConnectionTests{Quirks: &quirks{}})
	suite.Run(t, &statementTests{validation.StatementTests{Quirks: &quirks{}}})
}

// open returns a connection to a database with these options.
func open(t *testing.T, path string, options map[string]string) adbc.Connection {
	all := map[string]string{"driver": os.Getenv("LITEPRESS_ADBC"), "uri": path}
	maps.Copy(all, options)
	database, err := drivermgr.Driver{}.NewDatabase(all)
	require.NoError(t, err)
	t.Cleanup(func() { validation.CheckedClose(t, database) })
	connection, err := database.Open(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { validation.CheckedClose(t, connection) })
	return connection
}

// ingest writes rows in JSON to the table car.
func ingest(t *testing.T, connection adbc.Connection, mode, rows string, fields ...arrow.Field) (int64, error) {
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader(rows))
	require.NoError(t, err)
	defer batch.Release()
	statement, err := connection.NewStatement()
	require.NoError(t, err)
	defer validation.CheckedClose(t, statement)
	require.NoError(t, statement.SetOption(adbc.OptionKeyIngestTargetTable, "car"))
	require.NoError(t, statement.SetOption(adbc.OptionKeyIngestMode, mode))
	require.NoError(t, statement.Bind(context.Background(), batch))
	return statement.ExecuteUpdate(context.Background())
}

var (
	id   = arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64}
	name = arrow.Field{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true}
)

func TestOptionsReachTheIngest(t *testing.T) {
	ctx := context.Background()
	options := map[string]string{"litepress.primary_key": "id", "litepress.indexes": "name"}
	connection := open(t, filepath.Join(t.TempDir(), "cars.db"), options)
	rows := `[{"id": 3, "name": "C"}, {"id": 1, "name": null}, {"id": 2, "name": "007"}]`
	count, err := ingest(t, connection, adbc.OptionValueIngestModeCreate, rows, id, name)
	require.NoError(t, err)
	require.EqualValues(t, 3, count)

	statement, err := connection.NewStatement()
	require.NoError(t, err)
	defer validation.CheckedClose(t, statement)
	query := "SELECT id, name, (SELECT count(*) FROM pragma_index_list('car')) AS indexes FROM car"
	require.NoError(t, statement.SetSqlQuery(query))
	reader, _, err := statement.ExecuteQuery(ctx)
	require.NoError(t, err)
	defer reader.Release()
	require.True(t, reader.Next())
	text, err := reader.RecordBatch().MarshalJSON()
	require.NoError(t, err)
	expected := `[{"id": 1, "name": null, "indexes": 1}, {"id": 2, "name": "007", "indexes": 1}, {"id": 3, "name": "C", "indexes": 1}]`
	require.JSONEq(t, expected, string(text))
}

func TestIngestErrors(t *testing.T) {
	connection := open(t, filepath.Join(t.TempDir(), "cars.db"), map[string]string{"litepress.primary_key": "id"})
	failure := func(mode, rows string, fields ...arrow.Field) adbc.Error {
		var failure adbc.Error
		_, err := ingest(t, connection, mode, rows, fields...)
		require.ErrorAs(t, err, &failure)
		return failure
	}
	row := `[{"id": 1}]`
	_, err := ingest(t, connection, adbc.OptionValueIngestModeCreate, row, id)
	require.NoError(t, err)
	exists := failure(adbc.OptionValueIngestModeCreate, row, id)
	require.Equal(t, adbc.StatusAlreadyExists, exists.Code)
	require.Equal(t, "42S01", string(exists.SqlState[:]))
	repeated := failure(adbc.OptionValueIngestModeAppend, row, id)
	require.Equal(t, adbc.StatusIntegrity, repeated.Code)
	other := failure(adbc.OptionValueIngestModeAppend, `[{"id": 2, "name": "B"}]`, id, name)
	require.Equal(t, adbc.StatusInvalidArgument, other.Code)
	require.Contains(t, other.Msg, "name")
}
