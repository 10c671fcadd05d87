/// Which Footlight this is.
enum Version {
    static let text = "0.1.0"

    /// The Swift compiler that built it.
    #if compiler(>=6.4)
    static let compiler = "6.4 or later"
    #else
    static let compiler = "6.3"
    #endif
}
