import Foundation
import PackagePlugin

/// Turns the text files below `Web/<folder>` into string constants of the folder's module, so that one binary
/// carries all it serves.
@main
struct EmbedWeb: BuildToolPlugin {
  private static let folders = ["TenderServer": "kit", "AppleSandbox": "sandbox", "DemoShop": "shop"]

  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let folder = Self.folders[target.name] else { return [] }
    let root = context.package.directoryURL.appending(path: "Web").appending(path: folder)
    let files = try FileManager.default.subpathsOfDirectory(atPath: root.path)
      .filter { !$0.hasPrefix(".") && !$0.contains("/.") }
      .sorted()
      .map { root.appending(path: $0) }
      .filter { !$0.hasDirectoryPath && (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true }
    let output = context.pluginWorkDirectoryURL.appending(path: "WebFiles.swift")
    return [
      .buildCommand(
        displayName: "Embed Web/\(folder)",
        executable: try context.tool(named: "embed-web").url,
        arguments: [output.path, root.path] + files.map(\.path),
        inputFiles: files,
        outputFiles: [output])
    ]
  }
}
