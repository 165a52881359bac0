#if canImport(Darwin)
  import Darwin
#else
  import CUserStoreSystem
#endif

/// Whether a file is on this machine, or on a network file system, where stores are refused.
///
/// The processes that have a store open communicate through shared memory, which machines do not share (sqlite.org/wal.html,
/// “All processes using a database must be on the same host”): one would overwrite what the other wrote, without an error. A
/// single machine would be safe, but no program can find out whether it is the only one.
enum FileSystem: Equatable {
  /// Includes FUSE: its storage is unknown, but usually on this machine.
  case local
  /// A network file system with the name of its kind.
  case network(String)

  /// Returns the kind of the file system of an existing path; `local` if the system does not say.
  static func of(_ path: String) -> FileSystem {
    #if canImport(Darwin)
      var status = statfs()
      guard unsafe statfs(path, &status) == 0, status.f_flags & UInt32(MNT_LOCAL) == 0 else { return .local }
      let name = unsafe withUnsafeBytes(of: status.f_fstypename) { unsafe Array($0.prefix { $0 != 0 }) }
      return .network(String(decoding: name, as: UTF8.self))
    #else
      return unsafe FileSystem(magic: userstore_file_system(path))
    #endif
  }

  /// Creates the kind from Linux's number for it (statfs(2), linux/magic.h); GFS2 and OCFS2 are local, because the cluster keeps
  /// locks and pages on their disks consistent.
  init(magic: UInt32) {
    switch magic {
    case 0x6969: self = .network("NFS")
    case 0x517B, 0xFF53_4D42, 0xFE53_4D42: self = .network("SMB")
    case 0x5346_414F, 0x6B41_4653: self = .network("AFS")
    case 0x7375_7245: self = .network("Coda")
    case 0x564C: self = .network("NCP")
    case 0x00C3_6400: self = .network("Ceph")
    case 0x0BD0_0BD0: self = .network("Lustre")
    case 0x0102_1997: self = .network("9p")
    case 0x786F_4256: self = .network("a VirtualBox shared folder")
    default: self = .local
    }
  }
}
