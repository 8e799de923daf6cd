//! PROJJSON (version 0.7) becomes well-known text of the second version (ISO 19162): one element for each object.
//!
//! Geographic, projected, vertical, engineering and compound systems are written. Others, such as those bound to a transformation,
//! have no text here.

use serde_json::Value;

/// Radians of a degree, as the EPSG register has them.
const DEGREE: &str = "0.0174532925199433";

/// Returns the text of a system, or `None` if it is of another kind or lacks something.
pub(crate) fn to_wkt(crs: &Value) -> Option<String> {
    match text(crs, "type")? {
        "GeographicCRS" => geodetic("GEOGCRS", crs),
        "GeodeticCRS" => geodetic("GEODCRS", crs),
        "ProjectedCRS" => projected(crs),
        "VerticalCRS" => with_datum("VERTCRS", "VDATUM", crs),
        "EngineeringCRS" => with_datum("ENGCRS", "EDATUM", crs),
        "CompoundCRS" => {
            let parts = crs.get("components")?.as_array()?.iter().map(to_wkt).collect::<Option<Vec<_>>>()?;
            element("COMPOUNDCRS", crs, parts)
        }
        _ => None,
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Returns an element with its name in front and its ID behind.
fn element(keyword: &str, value: &Value, parts: impl IntoIterator<Item = String>) -> Option<String> {
    let name = quoted(text(value, "name")?);
    let parts: Vec<String> = std::iter::once(name).chain(parts).chain(id(value)).collect();
    Some(format!("{keyword}[{}]", parts.join(",")))
}

fn id(value: &Value) -> Option<String> {
    let id = value.get("id")?;
    let code = match id.get("code")? {
        Value::String(code) => quoted(code),
        code => code.to_string(),
    };
    Some(format!("ID[{},{code}]", quoted(text(id, "authority")?)))
}

fn geodetic(keyword: &str, crs: &Value) -> Option<String> {
    element(keyword, crs, [base(crs)?, coordinate_system(crs)?])
}

/// Returns datum and prime meridian.
fn base(crs: &Value) -> Option<String> {
    let frame = match (crs.get("datum"), crs.get("datum_ensemble")) {
        (Some(datum), _) => datum_of(datum)?,
        (None, Some(ensemble)) => ensemble_of(ensemble)?,
        (None, None) => return None,
    };
    let meridian = crs.get("datum").and_then(|datum| datum.get("prime_meridian"));
    let meridian = match meridian {
        Some(meridian) => {
            let (longitude, unit) = measure(meridian.get("longitude")?, &Value::from("degree"))?;
            element("PRIMEM", meridian, [longitude, unit])?
        }
        None => format!("PRIMEM[\"Greenwich\",0,ANGLEUNIT[\"degree\",{DEGREE}]]"),
    };
    Some(format!("{frame},{meridian}"))
}

fn datum_of(datum: &Value) -> Option<String> {
    let dynamic = datum.get("frame_reference_epoch").map(|epoch| format!("DYNAMIC[FRAMEEPOCH[{epoch}]],"));
    let anchor = text(datum, "anchor").map(|anchor| format!("ANCHOR[{}]", quoted(anchor)));
    let parts = std::iter::once(ellipsoid(datum.get("ellipsoid")?)?).chain(anchor);
    Some(dynamic.unwrap_or_default() + &element("DATUM", datum, parts)?)
}

fn ensemble_of(ensemble: &Value) -> Option<String> {
    let members = ensemble.get("members")?.as_array()?;
    let mut parts = members.iter().map(|member| element("MEMBER", member, [])).collect::<Option<Vec<_>>>()?;
    parts.extend(ensemble.get("ellipsoid").map(ellipsoid).unwrap_or_default());
    parts.push(format!("ENSEMBLEACCURACY[{}]", text(ensemble, "accuracy")?));
    element("ENSEMBLE", ensemble, parts)
}

fn ellipsoid(ellipsoid: &Value) -> Option<String> {
    let metre = Value::from("metre");
    let axis = ellipsoid.get("semi_major_axis").or_else(|| ellipsoid.get("radius"))?;
    let (length, unit) = measure(axis, &metre)?;
    let flattening = match (ellipsoid.get("inverse_flattening"), ellipsoid.get("semi_minor_axis")) {
        (Some(flattening), _) => number(flattening)?,
        (None, Some(minor)) => {
            let (major, minor) = (length.parse::<f64>().ok()?, measure(minor, &metre)?.0.parse::<f64>().ok()?);
            if major == minor { "0".to_owned() } else { (major / (major - minor)).to_string() }
        }
        // A sphere.
        (None, None) => "0".to_owned(),
    };
    element("ELLIPSOID", ellipsoid, [length, flattening, unit])
}

fn projected(crs: &Value) -> Option<String> {
    let base_crs = crs.get("base_crs")?;
    // PROJ leaves the type of the base out: then it is geographic, unless its coordinates are others.
    let is_geographic = match (text(base_crs, "type"), base_crs.get("coordinate_system")) {
        (Some(kind), _) => kind == "GeographicCRS",
        (None, Some(system)) => text(system, "subtype") == Some("ellipsoidal"),
        (None, None) => true,
    };
    let keyword = if is_geographic { "BASEGEOGCRS" } else { "BASEGEODCRS" };
    let conversion = crs.get("conversion")?;
    let method = element("METHOD", conversion.get("method")?, [])?;
    let parameters = conversion.get("parameters").and_then(Value::as_array);
    let parameters = parameters.into_iter().flatten().map(|parameter| {
        let unit = parameter.get("unit").cloned().unwrap_or_else(|| Value::from("unity"));
        let (value, unit) = measure(parameter.get("value")?, &unit)?;
        element("PARAMETER", parameter, [value, unit])
    });
    let parameters = parameters.collect::<Option<Vec<_>>>()?;
    let conversion = element("CONVERSION", conversion, std::iter::once(method).chain(parameters))?;
    element("PROJCRS", crs, [element(keyword, base_crs, [base(base_crs)?])?, conversion, coordinate_system(crs)?])
}

fn with_datum(keyword: &str, datum_keyword: &str, crs: &Value) -> Option<String> {
    let datum = element(datum_keyword, crs.get("datum")?, [])?;
    element(keyword, crs, [datum, coordinate_system(crs)?])
}

fn coordinate_system(crs: &Value) -> Option<String> {
    let system = crs.get("coordinate_system")?;
    let axes = system.get("axis")?.as_array()?;
    let numbered = (1..).zip(axes).map(|(number, axis)| axis_of(axis, number, axes.len()));
    let axes_text = numbered.collect::<Option<Vec<_>>>()?.join(",");
    Some(format!("CS[{},{}],{axes_text}", text(system, "subtype")?, axes.len()))
}

fn axis_of(axis: &Value, number: usize, count: usize) -> Option<String> {
    let abbreviation = text(axis, "abbreviation").filter(|abbreviation| !abbreviation.is_empty());
    let name = match abbreviation {
        Some(abbreviation) => format!("{} ({abbreviation})", text(axis, "name")?),
        None => text(axis, "name")?.to_owned(),
    };
    let order = if count > 1 { format!("ORDER[{number}],") } else { String::new() };
    let unit = unit_of(axis.get("unit")?)?;
    Some(format!("AXIS[{},{},{order}{unit}]", quoted(&name), text(axis, "direction")?))
}

/// Returns a number, and its unit: its own, or `unit`.
fn measure(value: &Value, unit: &Value) -> Option<(String, String)> {
    match value {
        Value::Object(own) => Some((number(own.get("value")?)?, unit_of(own.get("unit").unwrap_or(unit))?)),
        plain => Some((number(plain)?, unit_of(unit)?)),
    }
}

fn number(value: &Value) -> Option<String> {
    value.is_number().then(|| value.to_string())
}

fn unit_of(unit: &Value) -> Option<String> {
    if let Value::String(name) = unit {
        return match name.as_str() {
            "metre" => Some("LENGTHUNIT[\"metre\",1]".to_owned()),
            "degree" => Some(format!("ANGLEUNIT[\"degree\",{DEGREE}]")),
            "unity" => Some("SCALEUNIT[\"unity\",1]".to_owned()),
            _ => None,
        };
    }
    let keyword = match text(unit, "type")? {
        "LinearUnit" => "LENGTHUNIT",
        "AngularUnit" => "ANGLEUNIT",
        "ScaleUnit" => "SCALEUNIT",
        _ => return None,
    };
    element(keyword, unit, [number(unit.get("conversion_factor")?)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn geographic() -> Value {
        json!({
            "type": "GeographicCRS", "name": "ETRS89",
            "datum_ensemble": {
                "name": "European Terrestrial Reference System 1989 ensemble",
                "members": [{"name": "European Terrestrial Reference Frame 1989", "id": {"authority": "EPSG", "code": 1178}}],
                "ellipsoid": {"name": "GRS 1980", "semi_major_axis": 6_378_137, "inverse_flattening": 298.257_222_101},
                "accuracy": "0.1"
            },
            "coordinate_system": {"subtype": "ellipsoidal", "axis": [
                {"name": "Geodetic latitude", "abbreviation": "Lat", "direction": "north", "unit": "degree"},
                {"name": "Geodetic longitude", "abbreviation": "Lon", "direction": "east", "unit": "degree"}
            ]},
            "id": {"authority": "EPSG", "code": 4258}
        })
    }

    fn projected() -> Value {
        let parameter = |name: &str, value: f64, unit: &str| json!({"name": name, "value": value, "unit": unit});
        json!({
            "type": "ProjectedCRS", "name": "a \"local\" grid", "base_crs": geographic(),
            "conversion": {
                "name": "unnamed", "method": {"name": "Transverse Mercator", "id": {"authority": "EPSG", "code": 9807}},
                "parameters": [
                    parameter("Longitude of natural origin", 9.5, "degree"),
                    parameter("Scale factor at natural origin", 0.9996, "unity"),
                    parameter("False easting", 500_000.0, "metre")
                ]
            },
            "coordinate_system": {"subtype": "Cartesian", "axis": [
                {"name": "Easting", "abbreviation": "E", "direction": "east", "unit": "metre"},
                {"name": "Northing", "abbreviation": "", "direction": "north",
                 "unit": {"type": "LinearUnit", "name": "US survey foot", "conversion_factor": 0.304_800_609_601_219}}
            ]}
        })
    }

    #[test]
    fn a_projected_system_is_written() {
        let base = "BASEGEOGCRS[\"ETRS89\",ENSEMBLE[\"European Terrestrial Reference System 1989 ensemble\",\
            MEMBER[\"European Terrestrial Reference Frame 1989\",ID[\"EPSG\",1178]],\
            ELLIPSOID[\"GRS 1980\",6378137,298.257222101,LENGTHUNIT[\"metre\",1]],ENSEMBLEACCURACY[0.1]],\
            PRIMEM[\"Greenwich\",0,ANGLEUNIT[\"degree\",0.0174532925199433]],ID[\"EPSG\",4258]]";
        let conversion = "CONVERSION[\"unnamed\",METHOD[\"Transverse Mercator\",ID[\"EPSG\",9807]],\
            PARAMETER[\"Longitude of natural origin\",9.5,ANGLEUNIT[\"degree\",0.0174532925199433]],\
            PARAMETER[\"Scale factor at natural origin\",0.9996,SCALEUNIT[\"unity\",1]],\
            PARAMETER[\"False easting\",500000.0,LENGTHUNIT[\"metre\",1]]]";
        let system = "CS[Cartesian,2],AXIS[\"Easting (E)\",east,ORDER[1],LENGTHUNIT[\"metre\",1]],\
            AXIS[\"Northing\",north,ORDER[2],LENGTHUNIT[\"US survey foot\",0.304800609601219]]";
        let expected = format!("PROJCRS[\"a \"\"local\"\" grid\",{base},{conversion},{system}]");
        assert_eq!(to_wkt(&projected()), Some(expected));
    }

    /// Every projected system that PROJ or geopandas had written lost its definition: their base has no type.
    #[test]
    fn the_base_of_a_projected_system_may_lack_its_type() {
        let expected = to_wkt(&projected());
        let mut untyped = projected();
        untyped["base_crs"].as_object_mut().unwrap().remove("type");
        assert!(expected.is_some() && to_wkt(&untyped) == expected);
        let compound = json!({"type": "CompoundCRS", "name": "both", "components": [untyped.clone()]});
        assert!(to_wkt(&compound).is_some_and(|text| text.contains("PROJCRS[\"a \"\"local\"\" grid\",BASEGEOGCRS[")));
        untyped["base_crs"].as_object_mut().unwrap().remove("coordinate_system");
        assert_eq!(to_wkt(&untyped), expected);
        untyped["base_crs"]["coordinate_system"] = json!({"subtype": "Cartesian"});
        assert!(to_wkt(&untyped).is_some_and(|text| text.contains(",BASEGEODCRS[")));
    }

    #[test]
    fn compound_systems_are_written_and_others_are_not() {
        let height = json!({
            "type": "VerticalCRS", "name": "height", "datum": {"name": "Amsterdam"},
            "coordinate_system": {"subtype": "vertical", "axis": [
                {"name": "Gravity-related height", "abbreviation": "H", "direction": "up", "unit": "metre"}
            ]}
        });
        let compound = json!({"type": "CompoundCRS", "name": "both", "components": [geographic(), height]});
        let text = to_wkt(&compound).unwrap();
        assert!(text.starts_with("COMPOUNDCRS[\"both\",GEOGCRS[\"ETRS89\","), "{text}");
        let end = "VERTCRS[\"height\",VDATUM[\"Amsterdam\"],CS[vertical,1],\
            AXIS[\"Gravity-related height (H)\",up,LENGTHUNIT[\"metre\",1]]]]";
        assert!(text.ends_with(end), "{text}");
        assert_eq!(to_wkt(&json!({"type": "BoundCRS", "name": "bound"})), None);
        let mut broken = projected();
        broken["conversion"]["parameters"][0]["value"] = json!("nine");
        assert_eq!(to_wkt(&broken), None);
    }

    #[test]
    fn prime_meridians_and_dynamic_frames_are_written() {
        let mut paris = geographic();
        paris.as_object_mut().unwrap().remove("datum_ensemble");
        paris["datum"] = json!({
            "name": "NTF (Paris)", "frame_reference_epoch": 2010.0,
            "ellipsoid": {"name": "Clarke", "semi_major_axis": 6_378_249.2, "semi_minor_axis": 6_356_515.0},
            "prime_meridian": {"name": "Paris", "longitude": {"value": 2.5969213,
                "unit": {"type": "AngularUnit", "name": "grad", "conversion_factor": 0.015_707_963_267_949}}}
        });
        let text = to_wkt(&paris).unwrap();
        for part in [
            "DYNAMIC[FRAMEEPOCH[2010.0]],DATUM[\"NTF (Paris)\"",
            "ELLIPSOID[\"Clarke\",6378249.2,293.466021293",
            "PRIMEM[\"Paris\",2.5969213,ANGLEUNIT[\"grad\",0.015707963267949]]",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
