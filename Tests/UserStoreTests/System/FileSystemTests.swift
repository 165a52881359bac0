import Testing

@testable import UserStore

@Suite(.bounded, .serialized) struct FileSystemTests {
  @Test(arguments: [
    (UInt32(0x6969), "NFS"), (0x517B, "SMB"), (0xFF53_4D42, "SMB"), (0xFE53_4D42, "SMB"), (0x5346_414F, "AFS"),
    (0x6B41_4653, "AFS"), (0x00C3_6400, "Ceph"), (0x0102_1997, "9p"), (0x0BD0_0BD0, "Lustre"), (0x7375_7245, "Coda"),
  ])
  func `network file systems are recognized by name`(magic: UInt32, name: String) {
    #expect(FileSystem(magic: magic) == .network(name))
  }

  /// The numbers are those of ext4, tmpfs, btrfs, xfs, overlay, zfs, f2fs and FUSE.
  @Test(arguments: [
    UInt32(0xEF53), 0x0102_1994, 0x9123_683E, 0x5846_5342, 0x794C_7630, 0x2FC1_2FC1, 0xF2F5_2010, 0x6573_5546,
  ])
  func `file systems on disks and in memory, and FUSE, are accepted`(magic: UInt32) {
    #expect(FileSystem(magic: magic) == .local)
  }

  @Test(arguments: ["/tmp", "/dev/shm", "/proc", "/nowhere"])
  func `the file system of a path is read from the operating system`(path: String) {
    #expect(FileSystem.of(path) == .local)
  }

  @Test(arguments: [Configuration.Access.createIfMissing, .readWrite, .readOnly])
  func `a store on a network file system is refused with the reason, and nothing is created`(
    access: Configuration.Access
  ) throws {
    let folder = try Folder()
    let asked = Recorder<String>()
    let error = #expect(throws: StoreError.self) {
      try folder.open {
        $0.access = access
        $0.fileSystem = {
          asked.record($0); return .network("NFS")
        }
      }
    }
    #expect(error?.code == .cannotOpen)
    #expect(error?.message.contains("is on a network file system (NFS)") == true)
    #expect(asked.all == [folder.path])
    #expect(try Files.kind(of: folder.database) == .missing)
  }

  @Test func `an existing store on a network file system is refused and left unchanged`() throws {
    let folder = try Folder()
    try folder.open().close()
    let before = try Files.identity(of: folder.database)
    #expect(throws: StoreError.self) { try folder.open { $0.fileSystem = { _ in .network("SMB") } } }
    #expect(try Files.identity(of: folder.database) == before)
    #expect(try Files.kind(of: folder.database + "-wal") == .missing)
  }

  @Test func `for a link, the file system of its target is checked`() throws {
    let (folder, other) = (try Folder(), try Folder())
    try other.open().close()
    try folder.link("users.db", to: other.database)
    let asked = Recorder<String>()
    try folder.open {
      $0.fileSystem = {
        asked.record($0); return .local
      }
    }.close()
    #expect(asked.all == [other.path])
  }
}
