//! Memory laid out for children: what they need anew lies on pages that nobody has written to yet.
//!
//! A fork shares every page until somebody writes to it, and then the kernel copies all of it. An interpreter that has
//! loaded its modules is full of small holes, and its allocators give those away first: a child would have hundreds of
//! pages copied, each for a few bytes. So the zygote fills the holes, once, with what is never used.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::Python;
use pyo3::ffi;

/// The largest object that comes from CPython's arenas, in bytes, and the step between their sizes.
const OBJECT: (usize, usize) = (512, 16);
/// The largest hole of the C library's heap that is filled, in bytes. Beyond twice this it maps memory anew.
const HOLE: usize = 64 << 10;
/// The largest size of which the C library keeps lists without looking further, in bytes.
const LISTED: usize = 1032;
/// The smallest chunk of the heap, in bytes.
const SMALLEST: usize = 24;
/// How much the heap grows at a time, in bytes.
const GROWTH: libc::c_int = 1 << 20;

/// Whether CPython has asked for another arena, because there was no room in those that it has.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Fills the holes. For the zygote, when it has loaded all there is to load and before its first fork.
pub(crate) fn settle(_: Python<'_>) {
    fill_arenas();
    fill_heap();
}

/// Takes objects of every size until they would need another arena, which is refused meanwhile.
fn fill_arenas() {
    let mut own = MaybeUninit::<ffi::PyObjectArenaAllocator>::uninit();
    // SAFETY: the interpreter is attached, and fills in the structure.
    let mut own = unsafe {
        ffi::PyObject_GetArenaAllocator(own.as_mut_ptr());
        own.assume_init()
    };
    let mut refusing = ffi::PyObjectArenaAllocator { alloc: Some(refuse), ..own };
    // SAFETY: arenas are freed by the function that made them, and refusing one is what it does when memory is short.
    unsafe { ffi::PyObject_SetArenaAllocator(&raw mut refusing) };
    for size in (OBJECT.1..=OBJECT.0).rev().step_by(OBJECT.1) {
        ASKED.store(false, Ordering::Relaxed);
        while !ASKED.load(Ordering::Relaxed) {
            // SAFETY: the interpreter is attached. Nobody uses what is returned, and it is never given back.
            black_box(unsafe { ffi::PyObject_Malloc(size) });
        }
    }
    // SAFETY: it is what was there before.
    unsafe { ffi::PyObject_SetArenaAllocator(&raw mut own) };
}

extern "C" fn refuse(_: *mut libc::c_void, _: libc::size_t) -> *mut libc::c_void {
    ASKED.store(true, Ordering::Relaxed);
    ptr::null_mut()
}

/// Takes chunks of the heap, from large to small, until they come from its end.
fn fill_heap() {
    // The end of the heap stays where it is while there is one child, and is there before a child needs it.
    // SAFETY: there is one thread, and these are numbers.
    unsafe {
        libc::mallopt(libc::M_TOP_PAD, GROWTH);
        libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
    }
    // Too large for any hole, and so the end.
    let end = take(2 * HOLE - SMALLEST);
    give_back(end);
    let mut size = HOLE;
    while size >= SMALLEST {
        let chunk = take(size);
        if chunk.addr() < end.addr() && !chunk.is_null() {
            continue;
        }
        // The end takes back what is next to it; small ones would be kept in lists, for children to find.
        if size > LISTED {
            give_back(chunk);
        }
        size = if size > LISTED { (size * 3 / 4).max(LISTED) } else { size - OBJECT.1 };
    }
}

fn take(size: usize) -> *mut libc::c_void {
    // SAFETY: any size may be asked for. A null pointer is no chunk, and lies before all of them.
    // Opaque, since a compiler may leave out what is never used.
    black_box(unsafe { libc::malloc(size) })
}

fn give_back(chunk: *mut libc::c_void) {
    // SAFETY: it came from `take`, and is given back once.
    unsafe { libc::free(chunk) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_afterwards_lies_together() {
        let apart = |sizes: &[usize]| {
            let chunks: Vec<_> = sizes.iter().map(|size| take(*size)).collect();
            let end = chunks.iter().map(|chunk| chunk.addr()).max().unwrap();
            let start = chunks.iter().map(|chunk| chunk.addr()).min().unwrap();
            chunks.into_iter().for_each(give_back);
            end - start
        };
        // Holes of all sizes, between chunks that stay.
        let chunks: Vec<_> = (0..4000).map(|at| take(600 + at % 3000)).collect();
        for chunk in chunks.into_iter().step_by(2) {
            give_back(chunk);
        }
        fill_heap();
        let sizes: Vec<_> = (0..200).map(|at| 1100 + at * 10).collect();
        assert!(apart(&sizes) < 2 * sizes.iter().sum::<usize>());
    }
}
