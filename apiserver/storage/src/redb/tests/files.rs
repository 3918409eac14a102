//! What is found at the place of the file.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::redb::tables::{META, META_FORMAT, OBJECTS};

fn refused(directory: &Path) -> OpenError {
    match Redb::open(directory, &Options::default()) {
        Ok(_) => panic!("the store must not open"),
        Err(error) => error,
    }
}

fn file(directory: &Path) -> PathBuf {
    directory.join("store.redb")
}

#[tokio::test]
async fn a_store_is_open_once() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let error = refused(home.path());
    assert!(matches!(error, OpenError::Locked(_)));
    assert!(error.to_string().ends_with("is in use by another process"));
    drop(store);
    open(home.path());
}

#[tokio::test]
async fn nobody_else_can_read_the_file() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("new");
    open(&directory);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&directory), mode(&file(&directory))), (0o700, 0o600));
}

#[tokio::test]
async fn a_newer_format_is_refused() {
    let home = tempfile::tempdir().unwrap();
    drop(open(home.path()));
    let database = ::redb::Database::open(file(home.path())).unwrap();
    let txn = database.begin_write().unwrap();
    txn.open_table(META).unwrap().insert(META_FORMAT, 7).unwrap();
    txn.commit().unwrap();
    drop(database);
    let error = refused(home.path());
    assert_eq!(error.to_string(), "the store has format 7, and this version knows formats up to 1");
}

#[tokio::test]
async fn what_is_no_store_is_refused_and_left_alone() {
    for content in
        [&b""[..], b"short", &[0; 10_000], b"redb but not really".repeat(1000).as_slice()]
    {
        let home = tempfile::tempdir().unwrap();
        fs::write(file(home.path()), content).unwrap();
        let error = refused(home.path());
        assert!(matches!(error, OpenError::Damaged { .. }), "{error:?}");
        assert_eq!(fs::read(file(home.path())).unwrap(), content);
    }
}

#[tokio::test]
async fn a_database_of_others_is_refused() {
    let home = tempfile::tempdir().unwrap();
    drop(::redb::Database::create(file(home.path())).unwrap());
    assert!(matches!(refused(home.path()), OpenError::Damaged { .. }));
}

#[tokio::test]
async fn a_truncated_store_is_refused_with_its_place() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    for name in 0..100 {
        create(&store, &format!("/{name}")).await;
    }
    drop(store);
    let whole = fs::read(file(home.path())).unwrap();
    for part in [whole.len() / 2, 4096, 512] {
        fs::write(file(home.path()), &whole[..part]).unwrap();
        let error = refused(home.path());
        assert!(matches!(error, OpenError::Damaged { .. }), "{part} bytes: {error:?}");
        assert!(error.to_string().contains(home.path().to_str().unwrap()));
    }
}

#[tokio::test]
async fn a_draft_that_a_crash_left_is_replaced() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("store.new"), b"half").unwrap();
    create(&open(home.path()), "/a").await;
}

#[tokio::test]
async fn a_place_that_cannot_be_used_is_named() {
    let error = refused(Path::new("/proc/none"));
    assert_eq!(error.to_string(), "cannot make the store's directory in /proc/none");
}

#[tokio::test]
async fn a_sound_store_is_found_sound() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let first = create(&store, "/a").await;
    create(&store, "/b").await;
    let deleted = store.delete(&key("/a"), first).await.unwrap();
    store.compact(first).await.unwrap();
    assert!(matches!(check(home.path()), Err(OpenError::Locked(_))));
    drop(store);
    let contents = Contents { entries: 1, events: 2, revision: deleted, oldest: first };
    assert_eq!(check(home.path()).unwrap(), contents);
}

#[tokio::test]
async fn a_flipped_bit_anywhere_in_a_value_is_found() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let value = Bytes::from(vec![0xa5; 100_000]);
    store.put(&key("/a"), value, Expect::Absent).await.unwrap();
    drop(store);
    let whole = fs::read(file(home.path())).unwrap();
    let run = whole.windows(1000).position(|window| window == [0xa5; 1000]).unwrap();
    for offset in [0, 500, 90_000] {
        let mut flipped = whole.clone();
        flipped[run + offset] ^= 1;
        fs::write(file(home.path()), flipped).unwrap();
        assert!(matches!(check(home.path()), Err(OpenError::Damaged { .. })), "{offset}");
    }
}

#[tokio::test]
async fn an_entry_that_the_history_does_not_know_is_found() {
    let home = tempfile::tempdir().unwrap();
    let known = create(&open(home.path()), "/a").await.get();
    let database = ::redb::Database::open(file(home.path())).unwrap();
    let txn = database.begin_write().unwrap();
    txn.open_table(OBJECTS).unwrap().insert("/b", (known, b"".as_slice())).unwrap();
    txn.commit().unwrap();
    drop(database);
    let damage = check(home.path()).unwrap_err().to_string();
    assert!(damage.ends_with("the entry /b is not the one of the history"), "{damage}");
}
