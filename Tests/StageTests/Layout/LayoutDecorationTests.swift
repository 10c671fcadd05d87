import Foundation
import Stage
import Testing

@Suite("Layout decoration")
struct LayoutDecorationTests {
    private func refusal(_ change: (inout LayoutSettings) -> Void) -> String? {
        var settings = LayoutSettings()
        change(&settings)
        do {
            try settings.validate(path: "")
            return nil
        } catch {
            #expect(error.code == 3073)
            return error.message
        }
    }

    private static let full = LayoutSettings(
        kind: .sidebar,
        transition: 2000,
        background: .colour(.init(red: 1, green: 2, blue: 255)),
        logo: .init(image: AssetReference(name: "logo"), position: .bottomLeft, opacity: 0, height: 0.5),
        lowerThird: .init(title: String(repeating: "é", count: 500), subtitle: "two"),
        ticker: .init(text: String(repeating: "x", count: 2000), speed: 1),
        slates: .init(
            startingSoon: .init(text: "soon", image: AssetReference(name: "soon"), music: AssetReference(name: "tune")),
            ended: .init()
        )
    )

    @Test("Every value has its range, and the one outside of it is named")
    func ranges() throws {
        try Self.full.validate()
        let long = String(repeating: "x", count: 501)
        let logo = LayoutSettings.Logo(image: AssetReference(name: "logo"))
        for (field, change) in [
            ("rotate_every", { $0.rotation = 2 }), ("rotate_every", { $0.rotation = 301 }),
            ("transition_ms", { $0.transition = 2001 }), ("transition_ms", { $0.transition = -1 }),
            (
                "logo.opacity",
                {
                    $0.logo = logo; $0.logo?.opacity = 1.1
                }
            ),
            (
                "logo.opacity",
                {
                    $0.logo = logo; $0.logo?.opacity = .nan
                }
            ),
            (
                "logo.height",
                {
                    $0.logo = logo; $0.logo?.height = 0.01
                }
            ),
            ("lower_third.title", { $0.lowerThird = .init(title: long) }),
            ("lower_third.subtitle", { $0.lowerThird = .init(title: "", subtitle: long) }),
            ("ticker.text", { $0.ticker = .init(text: String(repeating: "x", count: 2001)) }),
            ("ticker.speed", { $0.ticker = .init(text: "", speed: 0) }),
            ("slates.starting_soon.text", { $0.slates.startingSoon = .init(text: long) }),
            ("slates.be_right_back.text", { $0.slates.beRightBack = .init(text: long) }),
            ("slates.ended.text", { $0.slates.ended = .init(text: long) }),
        ] as [(String, (inout LayoutSettings) -> Void)] {
            let message = refusal(change)
            #expect(message?.hasPrefix(field + " ") == true, "\(field): \(message ?? "accepted")")
        }
        let heap = "e" + String(repeating: "\u{301}", count: 100_000)
        // One character, but two hundred thousand bytes.
        #expect(
            refusal { $0.lowerThird = .init(title: heap) } == "lower_third.title must have at most 4000 bytes of UTF-8"
        )
    }

    @Test("settings round-trip, and older ones decode with defaults")
    func stored() throws {
        let data = try JSONEncoder().encode(Self.full)
        #expect(try JSONDecoder().decode(LayoutSettings.self, from: data) == Self.full)
        let old =
            #"{"kind":"GRID","priority":"PIN","gridSize":4,"theme":"DARK","scaleMode":"fit","#
            + #""autoSwitchOnScreenShare":false,"overlays":{"name":true,"mic":false}}"#
        let read = try JSONDecoder().decode(LayoutSettings.self, from: Data(old.utf8))
        let wanted = LayoutSettings(
            priority: .pin,
            gridSize: 4,
            theme: .dark,
            scaleMode: .fit,
            autoSwitchOnScreenShare: false,
            overlays: .init(mic: false)
        )
        #expect(read == wanted && read.transition == 300)
        #expect(read.largeScaleMode == .fit && read.stripSize == nil, "a sidebar looks as it did")
    }
}
