//! The one way to what is in a run's directory.
//!
//! A record may come from anybody. Each directory is held open, and what is in it is opened by a single name from
//! there, so that no link is followed on the way and nothing outside can be meant. Only regular files of bounded size
//! are read, and only those that have no second name are written into.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use rustix::process::{Gid, Uid, geteuid};

use crate::error::RecordError;
use crate::layout;

/// Not to hang on a pipe, not to be given a terminal, not to be handed to programs.
const SAFE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// A directory that is held open.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    handle: Arc<OwnedFd>,
    path: PathBuf,
}

impl Folder {
    /// Opens a directory that a person named: links on the way to it are the person's own.
    pub(crate) fn open(path: &Path) -> Result<Self, RecordError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(CWD, path, flags, Mode::empty());
        let handle = handle.map_err(|error| RecordError::io("open", path)(error.into()))?;
        Ok(Self { handle: Arc::new(handle), path: path.to_owned() })
    }

    /// A directory in this one; `None` if it is not there.
    pub(crate) fn below(&self, name: &str) -> Result<Option<Self>, RecordError> {
        let path = self.at(name)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | SAFE;
        match rustix::fs::openat(&self.handle, name, flags, Mode::empty()) {
            Ok(handle) => Ok(Some(Self { handle: Arc::new(handle), path })),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(RecordError::io("open the directory", &path)(error.into())),
        }
    }

    /// A directory in this one, made if need be.
    pub(crate) fn make(&self, name: &str) -> Result<Self, RecordError> {
        let path = self.at(name)?;
        let made = rustix::fs::mkdirat(&self.handle, name, Mode::from_raw_mode(0o777));
        if let Err(error) = made
            && error != Errno::EXIST
        {
            return Err(RecordError::io("create", &path)(error.into()));
        }
        let below = self.below(name)?.ok_or_else(|| RecordError::io("create", &path)(Errno::NOENT.into()))?;
        if made.is_ok() {
            self.hand_over(&below.handle);
        }
        Ok(below)
    }

    /// Opens a directory that a person named, and makes it and those above it if need be.
    pub(crate) fn open_or_make(path: &Path) -> Result<Self, RecordError> {
        match Self::open(path) {
            Err(_) if !path.exists() => {}
            result => return result,
        }
        let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name =
            path.file_name().ok_or_else(|| RecordError::BadName { name: path.to_string_lossy().into_owned() })?;
        Self::open_or_make(above)?.make(&name.to_string_lossy())
    }

    /// Gives what root made in this directory to whom the directory belongs, so that a run made with `sudo` is the person's.
    /// Where the file system keeps no owners it stays as it is.
    fn hand_over(&self, made: impl AsFd) {
        if let Ok(own) = rustix::fs::fstat(&self.handle)
            && geteuid().is_root()
            && own.st_uid != 0
        {
            let (user, group) = (Uid::from_raw(own.st_uid), Gid::from_raw(own.st_gid));
            let _ = rustix::fs::fchown(made, Some(user), Some(group));
        }
    }

    /// Where it is, for messages and for whoever made it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The same directory under the name that it was given.
    pub(crate) fn renamed(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    /// The path of a name in it. Names of more than one component are refused: each is opened by itself.
    pub(crate) fn at(&self, name: &str) -> Result<PathBuf, RecordError> {
        let single = !matches!(name, "" | "." | "..") && !name.contains(['/', '\0']);
        if single { Ok(self.path.join(name)) } else { Err(RecordError::BadName { name: name.to_owned() }) }
    }

    /// What has a name in it; `None` if nothing has. Links are told as links.
    pub(crate) fn kind(&self, name: &str) -> Result<Option<FileType>, RecordError> {
        let path = self.at(name)?;
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(FileType::from_raw_mode(found.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(RecordError::io("look at", &path)(error.into())),
        }
    }

    /// Opens a regular file of at most `most` bytes for reading; `None` if it is not there.
    pub(crate) fn file(&self, name: &str, most: u64) -> Result<Option<File>, RecordError> {
        let path = self.at(name)?;
        // Looked at before it is opened: opening a device can have an effect.
        match self.kind(name)? {
            None => return Ok(None),
            Some(FileType::RegularFile) => {}
            Some(_) => return Err(RecordError::NotAFile { path }),
        }
        let file = match rustix::fs::openat(&self.handle, name, OFlags::RDONLY | SAFE, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(RecordError::io("open", &path)(error.into())),
        };
        let found = file.metadata().map_err(RecordError::io("look at", &path))?;
        if !found.is_file() {
            return Err(RecordError::NotAFile { path });
        }
        if found.len() > most {
            return Err(RecordError::TooLarge { path, most });
        }
        Ok(Some(file))
    }

    /// Reads a regular file of at most `most` bytes; `None` if it is not there.
    pub(crate) fn read(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, RecordError> {
        let Some(file) = self.file(name, most)? else { return Ok(None) };
        read_all(&file, &self.at(name)?, most).map(Some)
    }

    /// Makes a new file. The name must be free.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | SAFE;
        let file = rustix::fs::openat(&self.handle, name, flags, Mode::from_raw_mode(0o666))?;
        self.hand_over(&file);
        Ok(file.into())
    }

    /// Opens a file for reading and writing, making it if need be. A file with a second name may be somebody else's.
    pub(crate) fn open_to_write(&self, name: &str) -> Result<File, RecordError> {
        let path = self.at(name)?;
        let before = self.kind(name)?;
        if before.is_some_and(|kind| kind != FileType::RegularFile) {
            return Err(RecordError::NotAFile { path });
        }
        let flags = OFlags::RDWR | OFlags::CREATE | SAFE;
        let file = rustix::fs::openat(&self.handle, name, flags, Mode::from_raw_mode(0o666));
        let file = File::from(file.map_err(|error| RecordError::io("open", &path)(error.into()))?);
        let found = rustix::fs::fstat(&file).map_err(|error| RecordError::io("look at", &path)(error.into()))?;
        let own = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile && found.st_nlink == 1;
        if !own {
            return Err(RecordError::NotAFile { path });
        }
        if before.is_none() {
            self.hand_over(&file);
        }
        Ok(file)
    }

    /// Gives what is called `from` the name `to` and makes it last. A file that is called so already is replaced.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), RecordError> {
        let path = self.at(to)?;
        let renamed = rustix::fs::renameat(&self.handle, from, &self.handle, to);
        renamed.map_err(|error| RecordError::io("put in place", &path)(error.into()))?;
        self.sync()
    }

    /// Removes a file, a link (not what it leads to) or a whole directory; nothing there is fine.
    pub(crate) fn remove(&self, name: &str) -> Result<(), RecordError> {
        let path = self.at(name)?;
        let flags = match self.kind(name)? {
            None => return Ok(()),
            Some(FileType::Directory) => {
                if let Some(folder) = self.below(name)? {
                    folder.entries()?.iter().try_for_each(|name| folder.remove(name))?;
                }
                AtFlags::REMOVEDIR
            }
            Some(_) => AtFlags::empty(),
        };
        match rustix::fs::unlinkat(&self.handle, name, flags) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(RecordError::io("remove", &path)(error.into())),
        }
    }

    /// Makes the names in it last.
    pub(crate) fn sync(&self) -> Result<(), RecordError> {
        rustix::fs::fsync(&self.handle).map_err(|error| RecordError::io("sync", &self.path)(error.into()))
    }

    /// Every name in it, sorted.
    pub(crate) fn entries(&self) -> Result<Vec<String>, RecordError> {
        let failed = |error: Errno| RecordError::io("list", &self.path)(error.into());
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.handle).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// The newest of the files that [`layout::numbered`] names here: its name and number.
    pub(crate) fn newest(&self, base: &str, suffix: &str) -> Result<Option<(String, u32)>, RecordError> {
        let number = |name: String| layout::number(&name, base, suffix).map(|number| (name, number));
        Ok(self.names()?.into_iter().filter_map(number).max_by_key(|(_, number)| *number))
    }

    /// The finished names in it, sorted; hidden and unfinished ones are left out.
    pub(crate) fn names(&self) -> Result<Vec<String>, RecordError> {
        Ok(self.entries()?.into_iter().filter(|name| !name.starts_with('.')).collect())
    }

    /// When it came to be on this file system, in seconds since 1970: the file system says so, and nothing in it.
    /// Where the file system does not keep that, when it was last changed, which is later.
    pub(crate) fn born(&self) -> Result<i64, RecordError> {
        let flags = StatxFlags::BTIME | StatxFlags::CTIME;
        let found = rustix::fs::statx(&self.handle, "", AtFlags::EMPTY_PATH, flags);
        let found = found.map_err(|error| RecordError::io("look at", &self.path)(error.into()))?;
        let has_birth = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
        Ok(if has_birth { found.stx_btime.tv_sec } else { found.stx_ctime.tv_sec })
    }
}

/// Reads what is left of a file, at most `most` bytes.
pub(crate) fn read_all(file: &File, path: &Path, most: u64) -> Result<Vec<u8>, RecordError> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(RecordError::io("read", path))?;
    if bytes.len() as u64 > most {
        return Err(RecordError::TooLarge { path: path.to_owned(), most });
    }
    Ok(bytes)
}

/// Reads a document of a record; `None` if it is not there.
pub(crate) fn document(folder: &Folder, name: &str) -> Result<Option<Vec<u8>>, RecordError> {
    folder.read(name, layout::DOCUMENT)
}
