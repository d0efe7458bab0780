// SPDX-License-Identifier: Apache-2.0

//! Engine by engine.

use super::*;

#[test]
fn a_single_version_is_not_touched() {
    // No function is called: no overflow, no refusal of retractions, no change of kind.
    let columns = &[("k", "INT NOT NULL"), ("c", "INT")];
    for engine in ["deduplicate", "first-row", "partial-update", "aggregation"] {
        let table = table(engine, columns, &[]);
        for kind in [I, U, B, D] {
            let merged = merge(&table, &[(kind, &[int(1), int(2)])]).unwrap();
            assert_eq!(merged, Some((kind, vec![int(1), int(2)])), "{engine}");
        }
    }
    assert_eq!(one("max", "INT", &[], &[(D, int(3))]), int(3));
    assert_eq!(one("sum", "INT", &[], &[(D, int(3))]), int(3));
}

#[test]
fn sketches_are_there_or_refused_by_name() {
    let made = try_one("hll_sketch", "BYTES", &[], &[(I, None), (I, None)]);
    if cfg!(feature = "sketches") {
        assert_eq!(made.unwrap(), None);
    } else {
        let error = made.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("hll_sketch"), "{error}");
    }
}

#[test]
fn aggregation_options() {
    let columns = &[("k", "INT NOT NULL"), ("s", "INT"), ("c", "INT")];
    // sequence columns are last_value, others last_non_null_value when nothing is said.
    let plain = table(
        "aggregation",
        columns,
        &[
            ("sequence.field", "s"),
            ("fields.default-aggregate-function", "sum"),
        ],
    );
    let merged = merge(
        &plain,
        &[(I, &[int(1), int(5), int(1)]), (U, &[int(1), None, int(2)])],
    )
    .unwrap();
    assert_eq!(merged, Some((I, vec![int(1), None, int(3)])));
    let removing = table(
        "aggregation",
        columns,
        &[
            ("aggregation.remove-record-on-delete", "true"),
            ("fields.c.aggregate-function", "sum"),
        ],
    );
    let (a, d): (&[Value], &[Value]) = (&[int(1), int(5), int(1)], &[int(1), None, int(9)]);
    assert_eq!(
        merge(&removing, &[(I, a), (D, d)]).unwrap(),
        Some((D, d.to_vec()))
    );
    // What comes after is merged on top of the removed row.
    assert_eq!(
        merge(&removing, &[(D, d), (I, a)]).unwrap(),
        Some((I, vec![int(1), int(5), int(10)]))
    );
    assert_eq!(
        merge(&removing, &[(I, a), (B, a)]).unwrap(),
        Some((I, vec![int(1), None, int(0)]))
    );
    let both = table(
        "aggregation",
        columns,
        &[
            ("aggregation.remove-record-on-delete", "true"),
            ("fields.c.ignore-retract", "true"),
        ],
    );
    let error = merge(&both, &[]).unwrap_err().to_string();
    assert!(error.contains("fields.c.ignore-retract"), "{error}");
    let unknown = table(
        "aggregation",
        columns,
        &[("fields.c.aggregate-function", "count")],
    );
    let error = merge(&unknown, &[]).unwrap_err().to_string();
    assert!(
        error.contains("'count'") && error.contains("fields.c.aggregate-function"),
        "{error}"
    );
    let not_null = table(
        "aggregation",
        &[("k", "INT NOT NULL"), ("c", "INT NOT NULL")],
        &[("fields.c.aggregate-function", "last_value")],
    );
    let error = merge(&not_null, &[(I, &[int(1), int(1)]), (D, &[int(1), int(1)])])
        .unwrap_err()
        .to_string();
    assert!(error.contains("column c is NOT NULL"), "{error}");
}

#[test]
fn deduplicate_and_first_row() {
    let columns = &[("k", "INT NOT NULL"), ("c", "INT")];
    let v = |c: i32| vec![int(1), int(c)];
    let versions = [(I, v(1)), (U, v(2)), (D, v(3))];
    let run = |engine: &str, more: &[(&str, &str)]| {
        let versions: Vec<(RowKind, &[Value])> = versions
            .iter()
            .map(|(kind, row)| (*kind, row.as_slice()))
            .collect();
        merge(&table(engine, columns, more), &versions)
    };
    assert_eq!(run("deduplicate", &[]).unwrap(), Some((D, v(3))));
    assert_eq!(
        run("deduplicate", &[("ignore-delete", "true")]).unwrap(),
        Some((U, v(2)))
    );
    assert_eq!(
        run("deduplicate", &[("deduplicate.ignore-delete", "true")]).unwrap(),
        Some((U, v(2)))
    );
    assert!(
        run("first-row", &[])
            .unwrap_err()
            .to_string()
            .contains("first-row")
    );
    assert_eq!(
        run("first-row", &[("ignore-delete", "true")]).unwrap(),
        Some((I, v(1)))
    );
    let ignoring = table("deduplicate", columns, &[("ignore-delete", "true")]);
    assert_eq!(merge(&ignoring, &[(D, &v(1)), (B, &v(2))]).unwrap(), None);
    let history = History::plain(vec![
        vec![(v(1), I)],
        vec![(v(2), D), (v(3), D)],
        vec![(v(4), I), (v(5), D)],
    ]);
    let merged = history.merge(&ignoring, &[0, 1], |_| true).unwrap();
    assert_eq!(merged.origins, [0, 3]);
}

#[test]
fn partial_update_without_groups() {
    let columns = &[("k", "INT NOT NULL"), ("a", "INT"), ("b", "STRING")];
    let plain = table("partial-update", columns, &[]);
    let add: &[Value] = &[int(1), int(1), None];
    let more: &[Value] = &[int(1), None, text("x")];
    assert_eq!(
        merge(&plain, &[(I, add), (I, more)]).unwrap(),
        Some((I, vec![int(1), int(1), text("x")]))
    );
    let error = merge(&plain, &[(I, add), (D, more)]).unwrap_err().to_string();
    for remedy in [
        "ignore-delete",
        "partial-update.remove-record-on-delete",
        "sequence groups",
    ] {
        assert!(error.contains(remedy), "{error}");
    }
    let ignoring = table("partial-update", columns, &[("ignore-delete", "true")]);
    assert_eq!(
        merge(&ignoring, &[(I, add), (D, more)]).unwrap(),
        Some((I, add.to_vec()))
    );
    // A leading retraction fills the row even when it is ignored.
    assert_eq!(
        merge(&ignoring, &[(D, more), (I, add)]).unwrap(),
        Some((I, vec![int(1), int(1), text("x")]))
    );
    assert_eq!(
        merge(&ignoring, &[(D, more), (B, add)]).unwrap(),
        Some((D, more.to_vec()))
    );
    let removing = table(
        "partial-update",
        columns,
        &[("partial-update.remove-record-on-delete", "true")],
    );
    assert_eq!(
        merge(&removing, &[(I, add), (D, more)]).unwrap(),
        Some((D, more.to_vec()))
    );
    assert_eq!(
        merge(&removing, &[(I, add), (B, more)]).unwrap(),
        Some((I, add.to_vec()))
    );
    // After a removal a row starts with the values of the delete.
    assert_eq!(
        merge(&removing, &[(D, more), (I, add)]).unwrap(),
        Some((I, vec![int(1), int(1), text("x")]))
    );
    let required = table(
        "partial-update",
        &[("k", "INT NOT NULL"), ("a", "INT NOT NULL")],
        &[],
    );
    let error = merge(&required, &[(I, &[int(1), int(1)]), (I, &[int(1), None])])
        .unwrap_err()
        .to_string();
    assert!(error.contains("column a is NOT NULL"), "{error}");
}

#[test]
fn case_13_sequence_groups() {
    let columns = &[
        ("k", "INT NOT NULL"),
        ("g_1", "INT"),
        ("a", "INT"),
        ("b", "INT"),
        ("g_2", "INT"),
        ("c", "INT"),
        ("d", "INT"),
    ];
    let groups = &[
        ("fields.g_1.sequence-group", "a,b"),
        ("fields.g_2.sequence-group", "c,d"),
    ];
    let table = table("partial-update", columns, groups);
    let v = |values: [Option<i32>; 6]| -> Row {
        [Some(1)]
            .into_iter()
            .chain(values)
            .map(|v| v.and_then(int))
            .collect()
    };
    let run = |versions: &[(RowKind, [Option<i32>; 6])]| {
        let versions: Vec<(RowKind, Row)> = versions
            .iter()
            .map(|(kind, values)| (*kind, v(*values)))
            .collect();
        let versions: Vec<(RowKind, &[Value])> = versions
            .iter()
            .map(|(kind, row)| (*kind, row.as_slice()))
            .collect();
        merge(&table, &versions).unwrap().unwrap()
    };
    let s = Some;
    let first = (I, [s(2), s(1), s(1), s(2), s(1), s(1)]);
    // An older g_1 loses, g_2 wins on its own.
    assert_eq!(
        run(&[first, (I, [s(1), s(9), s(9), s(3), s(9), None])]).1,
        v([s(2), s(1), s(1), s(3), s(9), None])
    );
    // NULL leaves the group alone; an equal one wins, NULL values too.
    assert_eq!(
        run(&[first, (I, [None, s(9), s(9), s(2), None, s(9)])]).1,
        v([s(2), s(1), s(1), s(2), None, s(9)])
    );
    // A retraction clears its groups only.
    assert_eq!(
        run(&[first, (B, [s(2), s(9), s(9), None, s(9), s(9)])]),
        (I, v([s(2), None, None, s(2), s(1), s(1)]))
    );
    assert_eq!(
        run(&[first, (D, [s(1), s(9), s(9), s(1), s(9), s(9)])]),
        (I, v([s(2), s(1), s(1), s(2), s(1), s(1)]))
    );
    // Without any addition the row is a delete.
    assert_eq!(
        run(&[
            (D, [s(1), s(9), s(9), s(1), s(9), s(9)]),
            (B, [s(2), s(9), s(9), None, s(9), s(9)])
        ])
        .0,
        D
    );
}

#[test]
fn aggregation_inside_of_sequence_groups() {
    let columns = &[
        ("k", "INT NOT NULL"),
        ("g1", "INT"),
        ("g2", "INT"),
        ("a", "ARRAY<INT>"),
        ("s", "STRING"),
        ("f", "INT"),
        ("o", "INT"),
    ];
    let groups = [
        ("fields.g1,g2.sequence-group", "a,s,f"),
        ("fields.a.aggregate-function", "collect"),
        ("fields.s.aggregate-function", "listagg"),
        ("fields.f.aggregate-function", "first_value"),
        ("fields.o.aggregate-function", "last_non_null_value"),
    ];
    let v = |g1: Option<i32>, g2: i32, x: i32| -> Row {
        vec![
            int(1),
            g1.and_then(int),
            int(g2),
            ints(&[x]),
            text(&x.to_string()),
            int(x),
            int(x),
        ]
    };
    let (newer, older) = (v(Some(2), 0, 1), v(Some(1), 9, 2));
    let plain = table("partial-update", columns, &groups);
    // The older version is put in front, but not by collect.
    let expected = vec![int(1), int(2), int(0), ints(&[1, 2]), text("2,1"), int(2), int(2)];
    assert_eq!(
        merge(&plain, &[(I, &newer), (I, &older)]).unwrap(),
        Some((I, expected))
    );
    // The generic reversed form under ignore-retract.
    let mut more = groups.to_vec();
    more.push(("fields.a.ignore-retract", "true"));
    let wrapped = table("partial-update", columns, &more);
    assert_eq!(
        merge(&wrapped, &[(I, &newer), (I, &older)]).unwrap().unwrap().1[3],
        ints(&[2, 1])
    );
    // A -D of the group removes the row when it is not older.
    let mut more = groups.to_vec();
    more.push(("partial-update.remove-record-on-sequence-group", "g2"));
    let removing = table("partial-update", columns, &more);
    let delete = v(Some(2), 1, 7);
    assert_eq!(
        merge(&removing, &[(I, &newer), (D, &delete)]).unwrap(),
        Some((D, delete.clone()))
    );
    assert!(
        merge(&removing, &[(I, &newer), (D, &older)]).is_err(),
        "listagg cannot retract"
    );
    // The columns that a projection needs.
    let field = |name: &str| removing.field(name).unwrap().clone();
    let names = |fields: Vec<DataField>| fields.into_iter().map(|field| field.name).collect::<Vec<_>>();
    let of = |table: &TableSchema, read: &[&str]| {
        let read: Vec<DataField> = read.iter().map(|name| field(name)).collect();
        names(merge_read_fields(table, &options(table), &read).unwrap())
    };
    assert_eq!(of(&plain, &["k", "o"]), [] as [&str; 0]);
    assert_eq!(of(&plain, &["s", "g2"]), ["g1"]);
    assert_eq!(of(&removing, &["k", "o"]), ["g1", "g2"]);
    let error = merge_function(&plain, &options(&plain), &[field("s")])
        .unwrap_err()
        .to_string();
    assert!(error.contains("column g1 must be read"), "{error}");
}

#[test]
fn contradictions_in_partial_update() {
    let columns = &[
        ("k", "INT NOT NULL"),
        ("g", "INT"),
        ("h", "INT"),
        ("a", "INT"),
        ("x", "ARRAY<INT>"),
    ];
    let group = ("fields.g.sequence-group", "a");
    let on_delete = ("partial-update.remove-record-on-delete", "true");
    let on_group = ("partial-update.remove-record-on-sequence-group", "g");
    let ignore = ("ignore-delete", "true");
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("fields.g.sequence-group", "a,no")], "names 'no'"),
        (&[("fields.g.sequence-group", "")], "names ''"),
        (&[("fields.no.sequence-group", "a")], "names 'no'"),
        (&[("fields.g.sequence-group", "k")], "primary key column k"),
        (&[("fields.k.sequence-group", "a")], "primary key column k"),
        (&[("fields.x.sequence-group", "a")], "orders by column x"),
        (&[group, ("fields.h.sequence-group", "a")], "already"),
        (&[group, ("fields.h.sequence-group", "g")], "already"),
        (&[ignore, on_delete], "exclude each other"),
        (&[group, ignore, on_group], "exclude each other"),
        (&[group, on_delete], "fields.g.sequence-group exclude"),
        (
            &[group, ("partial-update.remove-record-on-sequence-group", "a")],
            "names a",
        ),
        (
            &[("fields.a.aggregate-function", "sum")],
            "needs a sequence group",
        ),
        (
            &[group, ("fields.default-aggregate-function", "sum")],
            "fields.default-aggregate-function",
        ),
        (&[group, ("fields.a.aggregate-function", "what")], "'what'"),
        (&[("ignore-delete", "maybe")], "'maybe'"),
    ];
    for (more, expected) in cases {
        let error = merge(&table("partial-update", columns, more), &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(expected), "{error} for {more:?}");
    }
}
