import Foundation
import PackagePlugin

/// Turns the text files of `Web/<folder>` and the page templates of `Web/pages/<folder>` into string constants of the
/// module that serves them, so that one binary carries them.
@main
struct EmbedWeb: BuildToolPlugin {
  private static let folders = ["TenderServer": "kit", "AppleSandbox": "sandbox", "DemoShop": "shop"]

  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let folder = Self.folders[target.name] else { return [] }
    let web = context.package.directoryURL.appending(path: "Web")
    let roots = [web.appending(path: folder), web.appending(path: "pages").appending(path: folder)]
    let files = try roots.flatMap(files)
    let output = context.pluginWorkDirectoryURL.appending(path: "WebFiles.swift")
    return [
      .buildCommand(
        displayName: "Embed Web/\(folder)",
        executable: try context.tool(named: "embed-web").url,
        arguments: [output.path] + roots.map(\.path) + files.map(\.path),
        inputFiles: files,
        outputFiles: [output])
    ]
  }

  /// The files below a folder; none when there is no such folder.
  private func files(below root: URL) throws -> [URL] {
    guard FileManager.default.fileExists(atPath: root.path) else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: root.path)
      .filter { !$0.hasPrefix(".") && !$0.contains("/.") }
      .sorted()
      .map { root.appending(path: $0) }
      .filter { !$0.hasDirectoryPath && (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true }
  }
}
