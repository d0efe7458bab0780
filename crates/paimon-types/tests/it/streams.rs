// SPDX-License-Identifier: Apache-2.0

use paimon_types::{DataInput, DataOutput, ErrorKind};

use crate::generate::Random;
use crate::vectors::{from_hex, to_hex, vectors};

#[test]
fn utf_vectors() {
    for vector in vectors("wire-vectors.jsonl", "write_utf", 7) {
        let mut out = DataOutput::new();
        out.write_utf(vector.input()).unwrap();
        assert_eq!(to_hex(out.as_bytes()), vector.text("hex"));
        let mut input = DataInput::new(out.as_bytes());
        assert_eq!(input.read_utf().unwrap(), vector.input());
        input.expect_end().unwrap();
    }
}

#[test]
fn variable_length_vectors() {
    for vector in vectors("wire-vectors.jsonl", "varint", 7) {
        let mut out = DataOutput::new();
        out.write_var_i32(vector.input().parse().unwrap()).unwrap();
        assert_eq!(to_hex(out.as_bytes()), vector.text("hex"));
        assert_eq!(
            DataInput::new(out.as_bytes()).read_var_i32().unwrap().to_string(),
            vector.input()
        );
    }
    for vector in vectors("wire-vectors.jsonl", "varlong", 2) {
        let mut out = DataOutput::new();
        out.write_var_i64(vector.input().parse().unwrap()).unwrap();
        assert_eq!(to_hex(out.as_bytes()), vector.text("hex"));
        assert_eq!(
            DataInput::new(out.as_bytes()).read_var_i64().unwrap().to_string(),
            vector.input()
        );
    }
}

#[test]
fn primitives_come_back() {
    let mut out = DataOutput::with_capacity(64);
    out.write_bool(true);
    out.write_u8(0xfe);
    out.write_i8(-2);
    out.write_u16(0xfedc);
    out.write_i16(-3);
    out.write_i32(-4);
    out.write_i64(-5);
    out.write_f32(f32::from_bits(0xffc0_0001));
    out.write_f64(f64::from_bits(0xfff8_0000_0000_0001));
    out.write_i32_le(-6);
    out.write_i64_le(-7);
    out.write_sized(b"abc").unwrap();
    let mut input = DataInput::new(out.as_bytes());
    assert!(input.read_bool().unwrap());
    assert_eq!(input.read_u8().unwrap(), 0xfe);
    assert_eq!(input.read_i8().unwrap(), -2);
    assert_eq!(input.read_u16().unwrap(), 0xfedc);
    assert_eq!(input.read_i16().unwrap(), -3);
    assert_eq!(input.read_i32().unwrap(), -4);
    assert_eq!(input.read_i64().unwrap(), -5);
    assert_eq!(input.read_f32().unwrap().to_bits(), 0x7fc0_0000);
    assert_eq!(input.read_f64().unwrap().to_bits(), 0x7ff8_0000_0000_0000);
    assert_eq!(input.read_i32_le().unwrap(), -6);
    assert_eq!(input.read_i64_le().unwrap(), -7);
    assert_eq!(input.read_sized().unwrap(), b"abc");
    assert!(input.is_empty());
    assert_eq!(input.position(), out.len());
    input.expect_end().unwrap();
}

#[test]
fn random_primitives_come_back() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let choices: Vec<(u64, u64)> = (0..random.below(40))
            .map(|_| {
                // Numbers of every length, too.
                let shift = random.below(64);
                (random.below(10), random.next() >> shift)
            })
            .collect();
        let text = |number: u64| -> String {
            let characters = (0..number % 50).filter_map(|i| {
                let scalar = number.rotate_left(i as u32) & 0x1f_ffff;
                char::from_u32(scalar as u32)
            });
            characters.chain(['\0']).collect()
        };
        let mut out = DataOutput::new();
        for (kind, number) in &choices {
            match kind {
                0 => out.write_utf(&text(*number)).unwrap(),
                1 => out.write_var_i32((*number >> 33) as i32).unwrap(),
                2 => out.write_var_i64((*number >> 1) as i64).unwrap(),
                3 => out.write_sized(text(*number).as_bytes()).unwrap(),
                4 => out.write_i16(*number as i16),
                5 => out.write_i32(*number as i32),
                6 => out.write_i64(*number as i64),
                7 => out.write_i8(*number as i8),
                8 => out.write_bool(*number % 2 == 1),
                _ => out.write_i64_le(*number as i64),
            }
        }
        let mut input = DataInput::new(out.as_bytes());
        for (kind, number) in &choices {
            match kind {
                0 => assert_eq!(input.read_utf().unwrap(), text(*number)),
                1 => assert_eq!(input.read_var_i32().unwrap(), (*number >> 33) as i32),
                2 => assert_eq!(input.read_var_i64().unwrap(), (*number >> 1) as i64),
                3 => assert_eq!(input.read_sized().unwrap(), text(*number).as_bytes()),
                4 => assert_eq!(input.read_i16().unwrap(), *number as i16),
                5 => assert_eq!(input.read_i32().unwrap(), *number as i32),
                6 => assert_eq!(input.read_i64().unwrap(), *number as i64),
                7 => assert_eq!(input.read_i8().unwrap(), *number as i8),
                8 => assert_eq!(input.read_bool().unwrap(), *number % 2 == 1),
                _ => assert_eq!(input.read_i64_le().unwrap(), *number as i64),
            }
        }
        input.expect_end().unwrap();
    }
}

#[test]
fn short_and_malformed_input_is_corrupt_and_consumes_nothing() {
    fn refused<T: std::fmt::Debug>(hex: &str, read: impl Fn(&mut DataInput<'_>) -> paimon_types::Result<T>) {
        let bytes = from_hex(hex);
        let mut input = DataInput::new(&bytes);
        assert_eq!(read(&mut input).unwrap_err().kind(), ErrorKind::Corrupt, "{hex}");
        assert_eq!(input.position(), 0, "{hex}");
    }
    refused("000000", |input| input.read_i32());
    refused("00", |input| input.read_utf());
    refused("000261", |input| input.read_utf());
    refused("0001c0", |input| input.read_utf());
    refused("000180", |input| input.read_utf());
    refused("0004f09f9880", |input| input.read_utf());
    refused("0003eda0bd", |input| input.read_utf());
    refused("ffffffffffff", |input| input.read_var_i32());
    refused("ffffffff0f", |input| input.read_var_i32());
    refused("80", |input| input.read_var_i64());
    refused("ffffffffffffffffff01", |input| input.read_var_i64());
    refused("ffffffff", |input| input.read_count(1));
    refused("7fffffff00", |input| input.read_count(1));
    refused("0000000200", |input| input.read_sized().map(<[u8]>::to_vec));
    refused("00000002000000", |input| input.read_count(2));
    assert!(DataInput::new(&[0]).expect_end().is_err());
}

#[test]
fn utf_is_limited_to_65535_bytes() {
    let mut out = DataOutput::new();
    out.write_utf(&"a".repeat(65535)).unwrap();
    assert_eq!(out.len(), 65537);
    let mut out = DataOutput::new();
    assert_eq!(
        out.write_utf(&"\u{e9}".repeat(32768)).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    assert!(out.is_empty());
    assert!(out.write_var_i32(-1).is_err());
}

#[test]
fn every_character_survives_utf() {
    let text: String = ('\0'..='\u{10ffff}').step_by(37).collect();
    for chunk in text.chars().collect::<Vec<_>>().chunks(5000) {
        let text: String = chunk.iter().collect();
        let mut out = DataOutput::new();
        out.write_utf(&text).unwrap();
        assert_eq!(DataInput::new(out.as_bytes()).read_utf().unwrap(), text);
    }
}
