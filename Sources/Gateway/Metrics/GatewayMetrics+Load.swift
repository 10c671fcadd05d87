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
        ]
    }
}
