import Stage
import Viewership

extension GatewayMetrics {
    /// What every room's mixer costs, and does without, as it reports it.
    var mixerLoads: [MetricFamily] {
        let rooms = stage.rooms(.inProgress).compactMap { room in room.load.map { (name: room.name, load: $0) } }
        func family(_ name: String, _ help: String, _ value: (MixerLoad) -> Double) -> MetricFamily {
            MetricFamily(
                name: "footlight_mixer_" + name,
                kind: .gauge,
                help: help,
                samples: rooms.map { .init(labels: [.init(name: "room", value: $0.name)], value: value($0.load)) }
            )
        }
        return [
            family("degrade_level", "What the program does without for want of processor time, 0 to 6.") {
                Double($0.level)
            },
            family("work_ratio", "The part of its time that a slow picture takes.") { $0.work },
            family("cores", "Processor cores that the mixer keeps busy.") { $0.cores },
            MetricFamily(
                name: "footlight_rendition_dropped_pictures_total",
                kind: .counter,
                help: "Pictures that a rendition was left without, because its coder was behind.",
                samples: rooms.flatMap { room in
                    room.load.renditions.map { rendition in
                        .init(
                            labels: [
                                .init(name: "room", value: room.name), .init(name: "rendition", value: rendition.name),
                            ],
                            value: Double(rendition.dropped)
                        )
                    }
                }
            ),
        ]
    }

    /// What became of the pictures of every room's program; a mixer that begins anew counts anew.
    var mixerFrames: [MetricFamily] {
        let rooms = stage.rooms(.inProgress).compactMap { room in room.frames.map { (name: room.name, frames: $0) } }
        var times = MetricFamily(
            name: "footlight_mixer_frame_seconds",
            kind: .histogram,
            help: "Time that a picture takes to be composed and coded, which go on beside each other: the longer one.",
            samples: []
        )
        for room in rooms {
            times.addHistogram(
                bounds: MixerFrames.bounds,
                counts: room.frames.counts,
                sum: room.frames.seconds,
                labels: [.init(name: "room", value: room.name)]
            )
        }
        let lost = MetricFamily(
            name: "footlight_mixer_frames_dropped_total",
            kind: .counter,
            help: "Pictures of programs and renditions that were not made.",
            samples: rooms.flatMap { room in
                MixerFrames.Loss.allCases.map { loss in
                    MetricFamily.Sample(
                        ["room": room.name, "stage": loss.rawValue],
                        Double(room.frames.lost[loss] ?? 0)
                    )
                }
            }
        )
        return [times, lost]
    }
}
