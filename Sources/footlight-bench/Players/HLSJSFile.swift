import ArgumentParser
import Foundation

/// Where hls.js is; an option of every command that has Chromium play by it.
struct HLSJSFile: ParsableArguments {
    @Option(help: "The file of hls.js (its UMD build, a script that leaves Hls), for Chromium to play by it as well.")
    var hlsJs: String?

    /// Its text; nil when it was left out.
    var script: String? {
        get throws { try hlsJs.map { try String(contentsOfFile: $0, encoding: .utf8) } }
    }
}
