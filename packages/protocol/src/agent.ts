export * from "./gen/agent/v1/all_pb.js";
