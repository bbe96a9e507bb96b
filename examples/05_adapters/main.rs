//! Object adapters: references that outlive their server, servants made on demand, one servant for all objects, and
//! objects that have moved. Server and client are two ORBs in one process; they share nothing.

use std::error::Error;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use documents::{Document, DocumentServant};
use zorb::poa::{
    Cookie, Declined, Etherealized, ObjectId, Poa, PoaPolicies, ServantActivator, ServantLocator, servant,
};
use zorb::rt::Servant;
use zorb::{Call, Interface, Orb, SystemException};

zorb::include_idl!("documents");

struct Text(String);

impl DocumentServant for Text {
    fn read(&self, _: &Call) -> Result<String, SystemException> {
        Ok(self.0.clone())
    }
}

/// Makes a servant when its object is called first; the adapter keeps it.
struct Shelf {
    /// Told of each book that is back.
    back: Sender<ObjectId>,
}

impl ServantActivator for Shelf {
    fn incarnate(&self, _: &Poa, id: &ObjectId) -> Result<Servant, Declined> {
        println!("  (fetching {id} from the shelf)");
        Ok(servant::<Document>(Arc::new(Text(format!("the text of {id}")))))
    }

    fn etherealize(&self, _: &Poa, id: &ObjectId, _: Servant, _: Etherealized) {
        println!("  (putting {id} back)");
        let _ = self.back.send(id.clone());
    }
}

/// Finds a servant for each request anew; here, where the object has gone.
struct MovedTo(Document);

impl ServantLocator for MovedTo {
    fn preinvoke(&self, _: &Poa, _: &ObjectId, _: &str) -> Result<(Servant, Cookie), Declined> {
        // The client's ORB goes on by itself; its caller sees nothing of it.
        Err(Declined::forward(&self.0))
    }
}

/// One servant for every object of an adapter: the object is an argument.
struct Anything;

impl DocumentServant for Anything {
    fn read(&self, cx: &Call) -> Result<String, SystemException> {
        Ok(format!("nobody wrote {}", String::from_utf8_lossy(cx.object_id())))
    }
}

/// A server at `address` with the adapter `books`, and what its shelf tells. The ids are the program's and the references
/// outlive the server.
fn library(address: &str) -> Result<(Orb, Poa, Receiver<ObjectId>), Box<dyn Error>> {
    let orb = Orb::builder().listen(address).build();
    let policies = PoaPolicies::new().persistent().user_ids().servant_manager();
    let books = orb.root_poa()?.create_child("books", policies)?;
    let (back, returned) = channel();
    books.set_servant_activator(Arc::new(Shelf { back }))?;
    // Each child made so has a manager of its own, and holds requests until that is activated.
    books.manager().activate()?;
    // An ORB listens when its first reference is made; this one has to before, for references made in an earlier run.
    orb.listen()?;
    Ok((orb, books, returned))
}

fn main() -> Result<(), Box<dyn Error>> {
    let client = Orb::builder().build();
    let seen_by_client = |document: &Document| -> Result<Document, Box<dyn Error>> {
        let text = document.as_object().to_string();
        Ok(Document::from_object(client.string_to_object(&text)?.ok_or("nil")?))
    };

    println!("persistent references and a servant activator:");
    let (orb, books, _) = library("tcp:127.0.0.1:0")?;
    // A reference needs no servant.
    let book = seen_by_client(&books.create_reference_with_id::<Document>("Emma")?)?;
    println!("{}", book.read()?);
    println!("{}", book.read()?);
    let address = orb.endpoints()[0].to_string();
    orb.shutdown(true, Duration::from_secs(10));
    println!("the server starts again:");
    let (orb, books, returned) = library(&address)?;
    println!("{}", book.read()?);
    // `deactivate` returns at once. A request ends a little after its caller has the reply; when the last has ended, in
    // whatever thread, the activator gets the servant back.
    books.deactivate("Emma")?;
    let id = returned.recv_timeout(Duration::from_secs(30))?;
    println!("{id} is back on its shelf");

    println!("a default servant:");
    let policies = PoaPolicies::new().user_ids().multiple_ids().default_servant();
    let blank = orb.root_poa()?.create_child("blank", policies)?;
    blank.set_default_servant::<Document>(Arc::new(Anything))?;
    blank.manager().activate()?;
    for title in ["Persuasion II", "Sanditon II"] {
        println!("{}", seen_by_client(&blank.create_reference_with_id::<Document>(title)?)?.read()?);
    }

    println!("a servant locator that sends callers on:");
    let policies = PoaPolicies::new().user_ids().non_retain().servant_manager();
    let moved = orb.root_poa()?.create_child("moved", policies)?;
    moved.set_servant_locator(Arc::new(MovedTo(book.clone())))?;
    moved.manager().activate()?;
    println!("{}", seen_by_client(&moved.create_reference_with_id::<Document>("Emma")?)?.read()?);
    orb.shutdown(true, Duration::from_secs(10));
    Ok(())
}
