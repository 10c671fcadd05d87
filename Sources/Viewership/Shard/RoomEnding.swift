/// How far the end of a room has come in a shard: the places up to which everybody of it has been ended.
struct RoomEnding {
    var viewers = 0
    var sessions = 0
}
