export * from "./gen/aiserver/v1/all_pb.js";
