/** The import rule of DESIGN.md: rooms, what each may import, and which folder owns which driver package. */
const room = (name) => `^packages/server/src/${name}/`;
const ours = "^packages/server/src/";
const allow = {
  run: [],
  engine: ["run"],
  replay: ["run", "engine/ports", "engine/record-codec"],
  tools: ["run"],
  conversation: ["run"],
  turn: ["run", "tools", "conversation", "models/port", "store/port"],
  models: ["run", "telemetry"],
  store: ["run", "telemetry"],
  rpc: ["engine", "telemetry", "run"],
  http: ["rpc", "engine", "run", "telemetry", "config/types", "store/port"],
  config: ["run"],
  telemetry: ["run"],
};
const roomRules = Object.entries(allow).map(([name, targets]) => ({
  name: `room-${name}`,
  comment: `${name}/ may import only ${targets.join(", ") || "protocol types"} (DESIGN.md, "The house").`,
  severity: "error",
  from: { path: room(name), pathNot: "\\.test\\.ts$" },
  to: {
    path: ours,
    pathNot: [room(name), ...targets.map((target) => (target.includes("/") ? `${ours}${target}\\.ts$` : room(target)))],
  },
}));
const drivers = {
  "@ai-sdk/": "models",
  undici: "models",
  "@connectrpc/": "(rpc|http)",
  "@photostructure/": "store",
  pino: "telemetry",
  zod: "config",
  yaml: "config",
  commander: "cli",
};
const driverRules = Object.entries(drivers).map(([name, owner]) => ({
  name: `driver-${name.replace(/[^a-z]/g, "")}`,
  comment: `Only ${owner}/ imports ${name}.`,
  severity: "error",
  from: { path: ours, pathNot: [room(owner), "\\.test\\.ts$"] },
  to: { path: `node_modules/${name}` },
}));
module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "run-is-pure",
      comment: "run/ imports protocol types only: no Node, no npm.",
      severity: "error",
      from: { path: room("run"), pathNot: "\\.test\\.ts$" },
      to: { dependencyTypes: ["core", "npm", "npm-dev"], pathNot: "^packages/protocol/" },
    },
    {
      name: "run-takes-types",
      comment: "What run/ takes from the protocol package are types.",
      severity: "error",
      from: { path: room("run"), pathNot: "\\.test\\.ts$" },
      to: { path: "^packages/protocol/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "protocol-is-low",
      severity: "error",
      from: { path: "^packages/protocol/src/" },
      to: { path: "^packages/(server|client|dashboard)/" },
    },
    ...roomRules,
    ...driverRules,
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(/dist/|/gen/)" },
    tsPreCompilationDeps: true,

    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["keyturn-source", "import", "default"] },
  },
};
