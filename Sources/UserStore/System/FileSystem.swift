#if canImport(Darwin)
  import Darwin
#else
  import CUserStoreSystem
#endif

/// Whether a file lies on this machine, or is shared with others.
///
/// Stores are refused on the latter: the processes that have a store open tell each other through memory that they
/// share, and machines share none (sqlite.org/wal.html, “All processes using a database must be on the same host”).
/// What one machine wrote another would overwrite, without an error. One machine alone on a share would be safe, but
/// nobody can see whether it is alone.
enum FileSystem: Equatable {
  /// FUSE too: what stands behind it cannot be seen, and most of it is on this machine.
  case local
  /// With what its kind is called.
  case network(String)

  /// Where a file or folder lies.
  ///
  /// - Parameter path: It exists.
  /// - Returns: `local` also when the system does not say.
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

  /// By the number that Linux has for the kind (statfs(2), linux/magic.h).
  ///
  /// GFS2 and OCFS2 are no networks, but disks whose locks and pages the cluster keeps the same.
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
