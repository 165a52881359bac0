import UserStore

/// The arguments of the program, as the system passed them; the first is the program's name.
///
/// `CommandLine.arguments` reads /proc/self/cmdline on Linux, and is empty in a container or a jail without that file: a program
/// would then ignore its arguments and use its defaults. This list is empty only if the system passed no arguments. Bytes that
/// are not UTF-8 are replaced.
public var programArguments: [String] { ProgramArguments.all }
