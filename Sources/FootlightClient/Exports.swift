// An app imports this module alone: the values of the API, shows, the rules and errors, and packets are part of it.
@_exported public import FootlightModel
@_exported public import Media
@_exported public import Shows
@_exported public import Stage
