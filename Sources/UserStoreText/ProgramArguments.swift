import UserStore

/// The arguments of the program, as the system passed them to it; the first is the program's name.
///
/// `CommandLine.arguments` reads a file on Linux, /proc/self/cmdline, and is empty in a container or a jail without it:
/// a program would then use its defaults, and ignore its arguments. Empty only if the system passed no arguments; bytes
/// that are not UTF-8 are replaced.
public var programArguments: [String] { ProgramArguments.all }
