import Foundation
import PackagePlugin

/// Turns the text files of folders in `Web` and the page templates of a folder in `Web/pages` into string constants of
/// the module that serves them, so that one binary carries them.
@main
struct EmbedWeb: BuildToolPlugin {
  /// By module: folders of files in `Web`, and one of templates in `Web/pages`.
  private static let folders = [
    "TenderServer": (files: ["kit", "api"], pages: "server"), "AppleSandbox": (files: ["sandbox"], pages: "sandbox"),
    "DemoShop": (files: ["shop"], pages: "shop"), "HostedCheckout": (files: ["hosted"], pages: "hosted"),
    "BackOffice": (files: ["office"], pages: "office"),
  ]
  /// The modules whose files are sent to shoppers, compressed. The others' are for developers, on their own machines.
  private static let compressed: Set = ["TenderServer", "HostedCheckout"]

  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let folders = Self.folders[target.name] else { return [] }
    let web = context.package.directoryURL.appending(path: "Web")
    let roots =
      folders.files.map { web.appending(path: $0) } + [web.appending(path: "pages").appending(path: folders.pages)]
    let files = try roots.flatMap(files)
    // Stylesheets import it.
    let style = web.appending(path: "style")
    let output = context.pluginWorkDirectoryURL.appending(path: "WebFiles.swift")
    return [
      .buildCommand(
        displayName: "Embed Web/\(folders.files.joined(separator: ", Web/"))",
        executable: try context.tool(named: "embed-web").url,
        arguments: (Self.compressed.contains(target.name) ? ["--compressed"] : [])
          + [output.path, roots.dropLast().map(\.path).joined(separator: ","), roots[roots.count - 1].path]
          + files.map(\.path),
        inputFiles: files + (try self.files(below: style)),
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
