import Crypto
import Foundation
import NIOCore

/// The files of the pages by their path below `/site/`, and the two HTML pages.
///
/// The pages' own files are embedded in the executable, so that they match its version. The libraries are Debian's files,
/// read once at the start.
public struct StaticFiles: Sendable {
    /// The paths of the libraries by their names: of Debian's packages `libjs-chart.js` and `node-qrcode-generator`.
    public static let libraries = [
        "chart.js": "/usr/share/javascript/chart.js/chart.min.js",
        "qrcode.js": "/usr/share/javascript/qrcode-generator/qrcode.js",
    ]

    private var files: [String: StaticFile] = [:]

    /// - Parameters:
    ///   - libraries: The paths of the libraries by their names; one that cannot be read is omitted.
    ///   - usesDeviceIDs: Whether the watch page stores a device id.
    init(libraries: [String: String] = [:], usesDeviceIDs: Bool = false) {
        for (name, bytes) in Self.embedded { files[name] = StaticFile(bytes, name: name) }
        if usesDeviceIDs {
            // Set in the page itself: a request for the setting would delay the first request for the program.
            let setting = #"name="footlight-device-ids" content="#
            let page = String(decoding: PackageResources.watch_html, as: UTF8.self)
                .replacing(setting + #""off""#, with: setting + #""on""#)
            files["watch.html"] = StaticFile(page.utf8, name: "watch.html")
        }
        for (name, path) in libraries {
            if let library = FileManager.default.contents(atPath: path) {
                files[name] = StaticFile(library, name: name)
            }
        }
    }

    /// Returns a file by name; nil if it is not in the list.
    subscript(_ name: String) -> StaticFile? { files[name] }

    /// The names of all files.
    var names: [String] { files.keys.sorted() }

    private static let embedded: [(name: String, bytes: [UInt8])] = [
        ("dashboard.html", PackageResources.dashboard_html),
        ("dashboard.css", PackageResources.dashboard_css),
        ("panels.css", PackageResources.panels_css),
        ("report.css", PackageResources.report_css),
        ("administration.css", PackageResources.administration_css),
        ("studio.css", PackageResources.studio_css),
        ("watch.html", PackageResources.watch_html),
        ("watch.css", PackageResources.watch_css),
        ("theme.css", PackageResources.theme_css),
        ("footlight.svg", PackageResources.footlight_svg),

        ("shared/element.js", PackageResources.element_js),
        ("shared/format.js", PackageResources.format_js),
        ("shared/texts.js", PackageResources.texts_js),

        ("texts/administration-de.js", PackageResources.administration_de_js),
        ("texts/administration-en.js", PackageResources.administration_en_js),
        ("texts/dashboard-de.js", PackageResources.dashboard_de_js),
        ("texts/dashboard-en.js", PackageResources.dashboard_en_js),
        ("texts/dashboard-texts.js", PackageResources.dashboard_texts_js),
        ("texts/figures-de.js", PackageResources.figures_de_js),
        ("texts/figures-en.js", PackageResources.figures_en_js),
        ("texts/studio-de.js", PackageResources.studio_de_js),
        ("texts/studio-en.js", PackageResources.studio_en_js),
        ("texts/watch-texts.js", PackageResources.watch_texts_js),

        ("dashboard/access-view.js", PackageResources.access_view_js),
        ("dashboard/api.js", PackageResources.api_js),
        ("dashboard/audience-panel.js", PackageResources.audience_panel_js),
        ("dashboard/chart-frame.js", PackageResources.chart_frame_js),
        ("dashboard/curves-chart.js", PackageResources.curves_chart_js),
        ("dashboard/dashboard.js", PackageResources.dashboard_js),
        ("dashboard/downloads.js", PackageResources.downloads_js),
        ("dashboard/episode-comparison.js", PackageResources.episode_comparison_js),
        ("dashboard/episode-data.js", PackageResources.episode_data_js),
        ("dashboard/episode-figures.js", PackageResources.episode_figures_js),
        ("dashboard/episode-report.js", PackageResources.episode_report_js),
        ("dashboard/episodes-panel.js", PackageResources.episodes_panel_js),
        ("dashboard/figure-table.js", PackageResources.figure_table_js),
        ("dashboard/figures-panel.js", PackageResources.figures_panel_js),
        ("dashboard/file-choice.js", PackageResources.file_choice_js),
        ("dashboard/files-panel.js", PackageResources.files_panel_js),
        ("dashboard/gateway-texts.js", PackageResources.gateway_texts_js),
        ("dashboard/history.js", PackageResources.history_js),
        ("dashboard/history-panel.js", PackageResources.history_panel_js),
        ("dashboard/host-picture.js", PackageResources.host_picture_js),
        ("dashboard/hosts-panel.js", PackageResources.hosts_panel_js),
        ("dashboard/layout-panel.js", PackageResources.layout_panel_js),
        ("dashboard/layout-preview.js", PackageResources.layout_preview_js),
        ("dashboard/live-picture.js", PackageResources.live_picture_js),
        ("dashboard/login-view.js", PackageResources.login_view_js),
        ("dashboard/logins-panel.js", PackageResources.logins_panel_js),
        ("dashboard/look-panel.js", PackageResources.look_panel_js),
        ("dashboard/members-panel.js", PackageResources.members_panel_js),
        ("dashboard/new-show-view.js", PackageResources.new_show_view_js),
        ("dashboard/once-shown.js", PackageResources.once_shown_js),
        ("dashboard/outputs-panel.js", PackageResources.outputs_panel_js),
        ("dashboard/overlays-panel.js", PackageResources.overlays_panel_js),
        ("dashboard/overview-view.js", PackageResources.overview_view_js),
        ("dashboard/paper.js", PackageResources.paper_js),
        ("dashboard/poll.js", PackageResources.poll_js),
        ("dashboard/program-monitor.js", PackageResources.program_monitor_js),
        ("dashboard/program-settings.js", PackageResources.program_settings_js),
        ("dashboard/protocol-bar.js", PackageResources.protocol_bar_js),
        ("dashboard/protocols.js", PackageResources.protocols_js),
        ("dashboard/qr-code.js", PackageResources.qr_code_js),
        ("dashboard/recordings-panel.js", PackageResources.recordings_panel_js),
        ("dashboard/room-parts.js", PackageResources.room_parts_js),
        ("dashboard/room-state.js", PackageResources.room_state_js),
        ("dashboard/room-stream.js", PackageResources.room_stream_js),
        ("dashboard/room-view.js", PackageResources.room_view_js),
        ("dashboard/scene-keys.js", PackageResources.scene_keys_js),
        ("dashboard/scene-list.js", PackageResources.scene_list_js),
        ("dashboard/scenes-panel.js", PackageResources.scenes_panel_js),
        ("dashboard/seat-settings.js", PackageResources.seat_settings_js),
        ("dashboard/settings-panel.js", PackageResources.settings_panel_js),
        ("dashboard/show-view.js", PackageResources.show_view_js),
        ("dashboard/shows-panel.js", PackageResources.shows_panel_js),
        ("dashboard/system-view.js", PackageResources.system_view_js),
        ("dashboard/talkback-blocks.js", PackageResources.talkback_blocks_js),
        ("dashboard/talkback-microphone.js", PackageResources.talkback_microphone_js),
        ("dashboard/talkback-panel.js", PackageResources.talkback_panel_js),
        ("dashboard/talkback-sender.js", PackageResources.talkback_sender_js),
        ("dashboard/talkback-worklet.js", PackageResources.talkback_worklet_js),
        ("dashboard/theme-switch.js", PackageResources.theme_switch_js),
        ("dashboard/toast.js", PackageResources.toast_js),
        ("dashboard/tickets-panel.js", PackageResources.tickets_panel_js),
        ("dashboard/tokens-panel.js", PackageResources.tokens_panel_js),
        ("dashboard/totals-stream.js", PackageResources.totals_stream_js),
        ("dashboard/viewers-chart.js", PackageResources.viewers_chart_js),
        ("dashboard/webhooks-panel.js", PackageResources.webhooks_panel_js),

        ("watch/admission.js", PackageResources.admission_js),
        ("watch/announcement.js", PackageResources.announcement_js),
        ("watch/beacon.js", PackageResources.beacon_js),
        ("watch/controls.js", PackageResources.controls_js),
        ("watch/device.js", PackageResources.device_js),
        ("watch/fragment.js", PackageResources.fragment_js),
        ("watch/live-edge.js", PackageResources.live_edge_js),
        ("watch/media-queue.js", PackageResources.media_queue_js),
        ("watch/mse-player.js", PackageResources.mse_player_js),
        ("watch/native-player.js", PackageResources.native_player_js),
        ("watch/playlist.js", PackageResources.playlist_js),
        ("watch/playlist-loop.js", PackageResources.playlist_loop_js),
        ("watch/program.js", PackageResources.program_js),
        ("watch/renditions.js", PackageResources.renditions_js),
        ("watch/replay.js", PackageResources.replay_js),
        ("watch/server-clock.js", PackageResources.server_clock_js),
        ("watch/transport.js", PackageResources.transport_js),
        ("watch/unit-fetcher.js", PackageResources.unit_fetcher_js),
        ("watch/watch.js", PackageResources.watch_js),
    ]
}

/// A file with its response header values.
struct StaticFile: Sendable {
    let bytes: ByteBuffer
    /// The value of `Content-Type`.
    let contentType: String
    /// The value of `ETag`, a hash of the bytes.
    let tag: String

    init(_ bytes: some Collection<UInt8>, name: String) {
        self.bytes = ByteBuffer(bytes: bytes)
        contentType = Self.contentType(of: name)
        let digest = SHA256.hash(data: [UInt8](bytes)).prefix(12)
        tag = "\"\(digest.map { Self.hexadecimal($0) }.joined())\""
    }

    private static func contentType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
