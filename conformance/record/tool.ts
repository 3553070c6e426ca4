import packageFile from "../../package.json" with { type: "json" };

export const tool: { readonly name: string; readonly version: string } = {
  name: packageFile.name,
  version: packageFile.version,
};
