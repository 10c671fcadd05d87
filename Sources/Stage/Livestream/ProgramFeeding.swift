public import Media

/// The program feeds of all rooms, for whoever takes a program away from here.
public protocol ProgramFeeding: Sendable {
    /// Sends a room's program to `sink` from now on: first the configuration and the current group of pictures, then
    /// what comes. Attaching before the program begins is allowed. Packets come on the feed's event loop.
    func attach(_ sink: any PacketSink, room: String)
    /// Ends what `attach` began; a packet already under way may still arrive.
    func detach(_ sink: any PacketSink, room: String)
}
