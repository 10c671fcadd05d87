import Testing

@testable import Gateway

@Suite("The environment of a mixer")
struct MixerEnvironmentTests {
    @Test("A mixer gets where fonts and time zones are and its own settings, and none of the gateway's secrets")
    func environment() {
        let kept = [
            "PATH": "/usr/bin", "LANG": "de_DE.UTF-8", "LC_ALL": "C", "TZ": "UTC", "FONTCONFIG_FILE": "/fonts.conf",
            "FOOTLIGHT_MIXER_RECORD_ARRIVALS": "/tmp/arrivals", "SWIFT_BACKTRACE": "enable=no",
        ]
        let secrets = [
            "AWS_SECRET_ACCESS_KEY": "a", "FOOTLIGHT_DATA_DIR": "/srv", "FOOTLIGHT_TLS_KEY": "/key.pem",
            "LD_PRELOAD": "x", "FOOTLIGHT_TOKEN": "t", "SSH_AUTH_SOCK": "/tmp/s",
        ]
        #expect(MixerProcess.inherited(from: kept.merging(secrets) { $1 }) == kept)
    }
}
