/**
 * The part of Modal's gRPC interface that the SDK uses for sandboxes, with the SDK's own field numbers.
 *
 * The package does not export its definitions, so the messages stand here; libraries are those the package brings.
 */
import { createRequire } from "node:module";
import type * as Grpc from "@grpc/grpc-js";
import type Protobuf from "protobufjs";

const ofModal = createRequire(createRequire(import.meta.url).resolve("modal"));
const ofGrpc = createRequire(ofModal.resolve("nice-grpc"));
export const grpc = ofGrpc("@grpc/grpc-js") as typeof Grpc;
const protobuf = ofModal("protobufjs") as typeof Protobuf;

const PROTO = `
syntax = "proto3";
message Empty {}
message GenericResult { int32 status = 1; string exception = 2; int32 exitcode = 3; }
message AuthTokenGetResponse { string token = 1; }
message AppGetOrCreateRequest { string app_name = 1; string environment_name = 2; int32 object_creation_type = 3; }
message AppGetOrCreateResponse { string app_id = 1; }
message EnvironmentSettings { string image_builder_version = 1; }
message EnvironmentMetadata { string name = 1; EnvironmentSettings settings = 2; }
message EnvironmentGetOrCreateRequest { string deployment_name = 1; }
message EnvironmentGetOrCreateResponse { string environment_id = 1; EnvironmentMetadata metadata = 2; }
message Image { repeated string dockerfile_commands = 6; }
message ImageGetOrCreateRequest { Image image = 2; string app_id = 4; }
message ImageGetOrCreateResponse { string image_id = 1; GenericResult result = 2; }
message StringMap { map<string, string> contents = 1; }
message SecretSource { string secret_id = 1; StringMap env = 2; }
message SandboxTag { string tag_name = 1; string tag_value = 2; }
message NetworkAccess { int32 network_access_type = 1; repeated string allowed_cidrs = 2; repeated string allowed_domains = 3; }
message Resources { uint32 memory_mb = 2; uint32 milli_cpu = 3; uint32 memory_mb_max = 5; uint32 milli_cpu_max = 7; }
message Sandbox {
  string image_id = 3; Resources resources = 5; uint32 timeout_secs = 7; optional string workdir = 8;
  NetworkAccess network_access = 22; optional uint32 idle_timeout_secs = 33;
}
message SandboxCreateV2Request {
  string app_id = 1; Sandbox definition = 2; repeated SandboxTag tags = 4; repeated SecretSource secret_sources = 6;
}
message CommandRouterAccess { string jwt = 1; string url = 2; }
message SandboxCreateV2Response { string sandbox_id = 1; string task_id = 3; CommandRouterAccess command_router_access = 5; }
message SandboxRequest { string sandbox_id = 1; float timeout = 2; }
message SandboxWaitResponse { GenericResult result = 1; }
message SandboxListRequest { string app_id = 1; double before_timestamp = 2; repeated SandboxTag tags = 5; }
message SandboxInfo { string id = 1; double created_at = 3; }
message SandboxListResponse { repeated SandboxInfo sandboxes = 1; }
message SandboxGetTaskIdResponse { optional string task_id = 1; GenericResult task_result = 2; }
message TaskExecStartRequest {
  string task_id = 1; string exec_id = 2; repeated string command_args = 3; int32 stdout_config = 4; int32 stderr_config = 5;
  optional uint32 timeout_secs = 6; optional string workdir = 7; repeated SecretSource secret_sources = 13;
}
message TaskExecRequest { string task_id = 1; string exec_id = 2; }
message TaskExecStatus { oneof status { int32 code = 1; int32 signal = 2; } }
message TaskExecStdioReadRequest { string task_id = 1; string exec_id = 2; uint64 offset = 3; int32 file_descriptor = 4; }
message Data { bytes data = 1; }
message TaskExecStdinWriteRequest { string task_id = 1; string exec_id = 2; uint64 offset = 3; bytes data = 4; bool eof = 5; }
message StdinStart { string task_id = 1; string exec_id = 2; uint64 offset = 3; }
message TaskExecStdinWriteStreamRequest { oneof payload { StdinStart start = 1; bytes data = 2; Empty end = 3; } }
message TaskExecStdinStatusResponse { uint64 num_bytes_written = 1; bool closed = 2; }
`;

const root = protobuf.parse(PROTO).root;

type Kind = "unary" | "reads" | "writes";

/** Method by its request and response; `reads` answers with a stream, `writes` asks with one. */
const CONTROL: readonly (readonly [name: string, request: string, response: string, kind?: Kind])[] = [
  ["AuthTokenGet", "Empty", "AuthTokenGetResponse"],
  ["AppGetOrCreate", "AppGetOrCreateRequest", "AppGetOrCreateResponse"],
  ["EnvironmentGetOrCreate", "EnvironmentGetOrCreateRequest", "EnvironmentGetOrCreateResponse"],
  ["ImageGetOrCreate", "ImageGetOrCreateRequest", "ImageGetOrCreateResponse"],
  ["SandboxCreateV2", "SandboxCreateV2Request", "SandboxCreateV2Response"],
  ["SandboxWaitV2", "SandboxRequest", "SandboxWaitResponse"],
  ["SandboxTerminateV2", "SandboxRequest", "Empty"],
  ["SandboxListV2", "SandboxListRequest", "SandboxListResponse"],
  ["SandboxGetTaskIdV2", "SandboxRequest", "SandboxGetTaskIdResponse"],
  ["SandboxGetCommandRouterAccess", "SandboxRequest", "CommandRouterAccess"],
];

const ROUTER: typeof CONTROL = [
  ["TaskExecStart", "TaskExecStartRequest", "Empty"],
  ["TaskExecPoll", "TaskExecRequest", "TaskExecStatus"],
  ["TaskExecWait", "TaskExecRequest", "TaskExecStatus"],
  ["TaskExecStdioRead", "TaskExecStdioReadRequest", "Data", "reads"],
  ["TaskExecStdinWrite", "TaskExecStdinWriteRequest", "Empty"],
  ["TaskExecStdinWriteStream", "TaskExecStdinWriteStreamRequest", "Empty", "writes"],
  ["TaskExecStdinStatus", "TaskExecRequest", "TaskExecStdinStatusResponse"],
];

export const controlService = serviceOf("modal.client.ModalClient", CONTROL);
export const routerService = serviceOf("modal.task_command_router.TaskCommandRouter", ROUTER);

function serviceOf(service: string, methods: typeof CONTROL): Grpc.ServiceDefinition {
  return Object.fromEntries(
    methods.map(([name, request, response, kind]) => [
      name,
      {
        path: `/${service}/${name}`,
        requestStream: kind === "writes",
        responseStream: kind === "reads",
        ...codec("request", request),
        ...codec("response", response),
      },
    ]),
  ) as unknown as Grpc.ServiceDefinition;
}

function codec(side: "request" | "response", name: string): Record<string, unknown> {
  const type = root.lookupType(name);
  return {
    [`${side}Serialize`]: (value: object) => Buffer.from(type.encode(type.fromObject(value)).finish()),
    [`${side}Deserialize`]: (bytes: Buffer) =>
      type.toObject(type.decode(bytes), { longs: Number, defaults: false, arrays: true, objects: true }),
  };
}
