//! Transfers what belongs to the file that is replaced: owner, group, permissions, access control list, attributes of the user.

use crate::{Error, Result};
use std::ffi::CString;
use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

/// Permissions of owner, group and others. The new file is never set-uid or set-gid, because its owner may be another
/// one.
const PERMISSIONS: u32 = 0o777;
/// Extended attribute with the access control list (acl(5)).
const ACL: &str = "system.posix_acl_access";

/// Prefix of the attributes that users give files. Those of the system (`security.`, `trusted.`) follow from the new file's place.
const OF_USERS: &[u8] = b"user.";

/// Rights to a file, and its attributes.
#[derive(Debug)]
pub struct Access {
    owner: u32,
    group: u32,
    permissions: u32,
    acl: Option<Vec<u8>>,
    /// Names and values of the attributes of users.
    attributes: Vec<(CString, Vec<u8>)>,
}

impl Access {
    /// Reads the rights to the file at `path`.
    pub fn of(path: &Path, metadata: &Metadata) -> Self {
        let (owner, group) = (metadata.uid(), metadata.gid());
        let (acl, attributes) = (read_attribute(path, ACL), read_attributes(path));
        Self { owner, group, permissions: metadata.mode() & PERMISSIONS, acl, attributes }
    }

    /// Gives these rights to `file`, which only its owner may use, as far as the user may. If the group cannot be
    /// kept, the file's group gets only rights that others have, too.
    ///
    /// # Errors
    /// If the permissions cannot be set.
    pub fn apply(&self, file: &File, path: &Path) -> Result<()> {
        for (name, value) in &self.attributes {
            // A file system without attributes loses them.
            let _ = rustix::fs::fsetxattr(file, name.as_c_str(), value, rustix::fs::XattrFlags::empty());
        }
        self.try_apply(file).map_err(|error| Error::io("set the permissions of", path, error))
    }

    fn try_apply(&self, file: &File) -> io::Result<()> {
        let new = file.metadata()?;
        if new.uid() != self.owner && fchown(file, Some(self.owner), Some(self.group)).is_ok() {
            return self.apply_permissions(file, true);
        }
        let has_group = new.gid() == self.group || fchown(file, None, Some(self.group)).is_ok();
        self.apply_permissions(file, has_group)
    }

    fn apply_permissions(&self, file: &File, has_group: bool) -> io::Result<()> {
        let for_everybody = (self.permissions & 0o007) << 3;
        let closed = self.permissions & (!0o070 | for_everybody);
        let Some(acl) = &self.acl else {
            let permissions = if has_group { self.permissions } else { closed };
            return file.set_permissions(Permissions::from_mode(permissions));
        };
        // With a list, the group's bits are its mask. Without the list, they might give the group more than it had.
        file.set_permissions(Permissions::from_mode(closed))?;
        if has_group {
            // A file system without lists keeps the narrower permissions.
            let _ = rustix::fs::fsetxattr(file, ACL, acl, rustix::fs::XattrFlags::empty());
        }
        Ok(())
    }
}

/// Greatest length of an extended attribute, and of the list of their names (xattr(7)).
const MAX_BYTES: usize = 1 << 16;

fn read_attribute(path: &Path, name: impl rustix::path::Arg) -> Option<Vec<u8>> {
    let mut value = vec![0; MAX_BYTES];
    let length = rustix::fs::getxattr(path, name, &mut value[..]).ok().filter(|length| *length > 0)?;
    value.truncate(length);
    Some(value)
}

fn read_attributes(path: &Path) -> Vec<(CString, Vec<u8>)> {
    let mut names = vec![0_u8; MAX_BYTES];
    let length = rustix::fs::listxattr(path, &mut names[..]).unwrap_or(0);
    let names = names[..length].split(|byte| *byte == 0).filter(|name| name.starts_with(OF_USERS));
    names
        .filter_map(|name| CString::new(name).ok())
        .filter_map(|name| Some((name.clone(), read_attribute(path, name)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list was lost, and the owning group got the rights of its mask: more than it had.
    #[test]
    #[expect(clippy::little_endian_bytes, reason = "the format of the attribute")]
    fn an_access_control_list_is_kept() {
        const ANY: u32 = u32::MAX;
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        let [old_file, new_file] = [&old, &new].map(|path| File::create(path).unwrap());
        // Version 2; user::rw-, user:1234:rw-, group::---, mask::rw-, other::---
        let mut list = vec![2, 0, 0, 0];
        for (tag, rights, id) in [(1_u16, 6_u16, ANY), (2, 6, 1234), (4, 0, ANY), (16, 6, ANY), (32, 0, ANY)] {
            list.extend([tag.to_le_bytes(), rights.to_le_bytes()].concat());
            list.extend(id.to_le_bytes());
        }
        if rustix::fs::fsetxattr(&old_file, ACL, &list, rustix::fs::XattrFlags::empty()).is_err() {
            println!("skipped: this file system has no access control lists");
            return;
        }
        let access = Access::of(&old, &old_file.metadata().unwrap());
        access.apply(&new_file, &new).unwrap();
        assert_eq!(read_attribute(&new, ACL), Some(list));
        assert_eq!(new_file.metadata().unwrap().mode() & PERMISSIONS, 0o660);
        // A group that cannot be kept gets no more than everybody has.
        access.apply_permissions(&new_file, false).unwrap();
        assert_eq!(new_file.metadata().unwrap().mode() & 0o070, 0);
    }

    /// Attributes such as the origin of a download, or a backup program's, were lost with the old file.
    #[test]
    fn attributes_of_users_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        let [old_file, new_file] = [&old, &new].map(|path| File::create(path).unwrap());
        let set = |name, value: &[u8]| rustix::fs::fsetxattr(&old_file, name, value, rustix::fs::XattrFlags::empty());
        if set("user.origin", b"a shop").is_err() {
            println!("skipped: this file system has no attributes of users");
            return;
        }
        set("user.tag", b"\0\xff").unwrap();
        let access = Access::of(&old, &old_file.metadata().unwrap());
        access.apply(&new_file, &new).unwrap();
        assert_eq!(read_attribute(&new, "user.origin"), Some(b"a shop".to_vec()));
        assert_eq!(read_attribute(&new, "user.tag"), Some(b"\0\xff".to_vec()));
    }
}
