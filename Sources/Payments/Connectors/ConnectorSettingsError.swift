/// Which setting of a connector is wrong, and what it must be.
package struct ConnectorSettingsError: Error, Sendable, Hashable {
  package let setting: String
  package let reason: String

  init(_ setting: String, _ reason: String) {
    self.setting = setting
    self.reason = reason
  }
}
