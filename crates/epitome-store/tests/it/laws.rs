//! The laws that hold of any archive.

use std::cell::RefCell;

use testkit::archives::laws;

use crate::{Place, take_in, talk};

#[test]
fn sessions_obey_the_laws_of_archives() {
    let places = RefCell::new(Vec::new());
    laws(&|| {
        let place = Place::new();
        let session = take_in(&place.open(), &talk("laws", 1));
        places.borrow_mut().push(place);
        Box::new(session)
    });
}

#[test]
fn tenants_of_one_store_obey_the_laws() {
    let place = Place::new();
    let store = place.open();
    let next = RefCell::new(0);
    laws(&|| {
        let name = next.replace_with(|next| *next + 1);
        // Contents are a tenant's, so that one more session of it isn't empty to `get`.
        let tenant = store.tenant(&format!("tenant {name}")).expect("made");
        Box::new(take_in(&tenant, &talk(&format!("talk {name}"), 1)))
    });
}
