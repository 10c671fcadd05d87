import Recording
import Viewership

extension RecordingCounts {
    /// As Prometheus reads them.
    var families: [MetricFamily] {
        func family(_ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: Int) -> MetricFamily {
            MetricFamily(name: name, kind: kind, help: help, samples: [.init(labels: [], value: Double(value))])
        }
        return [
            family("footlight_recordings_active", .gauge, "Rooms that are being recorded.", active),
            family("footlight_recording_files_total", .counter, "Files begun.", files),
            family("footlight_recording_failures_total", .counter, "Recordings that ended by themselves.", failures),
            family(
                "footlight_recording_dropped_total",
                .counter,
                "Packets that were not recorded because the disk was too slow.",
                droppedPackets
            ),
            family("footlight_recording_stored_files", .gauge, "Recorded files there are.", storedFiles),
            family("footlight_recording_stored_bytes", .gauge, "Bytes in recorded files.", storedBytes),
        ]
    }
}
