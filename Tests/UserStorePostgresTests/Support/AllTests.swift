import Testing

/// All tests run one after another: some count descriptors, or change the environment.
@Suite(.serialized) enum AllTests {}
