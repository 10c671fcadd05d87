/// The version of Footlight.
public enum Version {
    /// The number, as in the changelog.
    public static let text = "0.2.0"

    /// The version of the Swift compiler.
    #if compiler(>=6.4)
    static let compiler = "6.4 or later"
    #else
    static let compiler = "6.3"
    #endif
}
