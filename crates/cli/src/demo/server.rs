//! The server process: an archive, and an object for each study that it opens.

use std::sync::{Arc, Mutex, PoisonError};

use zorb::poa::Poa;
use zorb::{Call, Sequence, SystemException};

use super::checksum::checksum;
use super::histogram::histogram;
use super::idl::imaging::{self, study};
use super::picture::Picture;
use super::window::Window;

/// The most that one study may hold: plenty for a demonstration, and less than what would trouble a
/// machine whose archive is left open to others.
const MOST_BYTES: u64 = 1 << 30;

/// Opens studies.
pub(crate) struct Archive {
    poa: Poa,
}

impl Archive {
    /// An archive whose studies are activated in `poa`.
    pub(crate) fn new(poa: Poa) -> Archive {
        Archive { poa }
    }
}

impl imaging::ArchiveServant for Archive {
    fn open(
        &self,
        _cx: &Call,
        patient: &str,
        progress: Option<imaging::Listener>,
    ) -> Result<Option<imaging::Study>, SystemException> {
        let study = Study {
            patient: patient.to_owned(),
            poa: self.poa.clone(),
            listener: Mutex::new(progress),
            images: Mutex::default(),
        };
        let study = self.poa.activate::<imaging::Study>(Arc::new(study));
        study.map(Some).map_err(|error| SystemException::ObjAdapter(error.to_string()))
    }
}

/// Holds the images of one examination.
struct Study {
    patient: String,
    poa: Poa,
    /// Told of each image; forgotten once it cannot be reached.
    listener: Mutex<Option<imaging::Listener>>,
    images: Mutex<Vec<imaging::Image>>,
}

impl Study {
    /// Image number `number`. Its samples are counted, not copied, so the lock is held for a moment only.
    fn image(&self, number: u32) -> Result<imaging::Image, imaging::NoSuchImage> {
        let images = lock(&self.images);
        let image = usize::try_from(number).ok().and_then(|number| images.get(number));
        image.cloned().ok_or(imaging::NoSuchImage { image: number, images: images.len() as u32 })
    }
}

fn refused(reason: impl Into<String>) -> imaging::Refused {
    imaging::Refused { reason: reason.into() }
}

impl imaging::StudyServant for Study {
    fn patient(&self, _cx: &Call) -> Result<String, SystemException> {
        Ok(self.patient.clone())
    }

    fn images(&self, _cx: &Call) -> Result<u32, SystemException> {
        Ok(lock(&self.images).len() as u32)
    }

    fn store(&self, _cx: &Call, picture: &imaging::Image) -> Result<u32, study::StoreError> {
        let (width, height, samples) = (picture.width, picture.height, picture.samples.len());
        if !Picture::fits(width, height, samples) {
            return Err(refused(format!("{samples} samples do not fill {width} by {height} pixels")).into());
        }
        let sum = checksum(&picture.samples);
        let number = {
            let mut images = lock(&self.images);
            let held: u64 = images.iter().map(|image| image.samples.len() as u64 * 2).sum();
            if held + samples as u64 * 2 > MOST_BYTES {
                return Err(refused(format!("a study holds at most {} MiB", MOST_BYTES >> 20)).into());
            }
            // Its samples are counted, not copied.
            images.push(picture.clone());
            images.len() as u32 - 1
        };
        // Called without the lock: the listener may call back.
        let listener = lock(&self.listener).clone();
        if let Some(listener) = listener
            && listener.stored(number, sum).is_err()
        {
            // The image is stored all the same, and whoever cannot hear is not asked again.
            *lock(&self.listener) = None;
        }
        Ok(number)
    }

    fn fetch(&self, _cx: &Call, image: u32) -> Result<imaging::Image, study::FetchError> {
        Ok(self.image(image)?)
    }

    fn render(
        &self,
        _cx: &Call,
        image: u32,
        through: &imaging::Window,
    ) -> Result<Sequence<u8>, study::RenderError> {
        let image = self.image(image)?;
        let window = Window::new(through.center, through.width)
            .ok_or_else(|| refused("a window has a finite centre and a width of at least 1"))?;
        Ok(window.render(&image.samples).into())
    }

    fn histogram(
        &self,
        _cx: &Call,
        image: u32,
        bins: u32,
    ) -> Result<Sequence<imaging::Bin>, study::HistogramError> {
        let image = self.image(image)?;
        let counted = histogram(&image.samples, bins).ok_or_else(|| refused("there are 1 to 65,536 bins"))?;
        let bin = |bin: super::histogram::Bin| imaging::Bin {
            lower: bin.lower,
            upper: bin.upper,
            count: bin.count,
        };
        Ok(counted.into_iter().map(bin).collect())
    }

    fn discard(&self, cx: &Call) -> Result<(), SystemException> {
        lock(&self.images).clear();
        let gone = self.poa.deactivate(cx.object_id());
        gone.map_err(|error| SystemException::ObjAdapter(error.to_string()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
