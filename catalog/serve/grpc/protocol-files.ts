/** A file of protocol buffers, syntax proto3. */
export interface ProtocolFile {
  readonly name: string;
  readonly package: string;
  readonly goPackage: string;
  readonly imports?: readonly string[];
  /**
   * Fields of messages: `name` is a string; `name[]` is repeated; `name: Type`; `oneof/name`. Their
   * numbers are 1, 2, …, or the number after ` = `.
   */
  readonly messages: Readonly<Record<string, readonly string[]>>;
  /** Enums of messages, with their values from 0. */
  readonly enums?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  /**
   * Methods: `Request -> Response`, with `stream` before streamed ones, and `deprecated` at the
   * end.
   */
  readonly services: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const gvk = ['group', 'version', 'kind', 'plural'];

/** operator-registry's API, for OLM. */
const registry: ProtocolFile = {
  name: 'registry.proto',
  package: 'api',
  goPackage: '.;api',
  imports: ['google/protobuf/struct.proto'],
  messages: {
    Channel: ['name', 'csvName', 'deprecation: Deprecation'],
    PackageName: ['name'],
    Package: ['name', 'channels[]: Channel', 'defaultChannelName', 'deprecation: Deprecation'],
    GroupVersionKind: gvk,
    Dependency: ['type', 'value'],
    Property: ['type', 'value'],
    Bundle: [
      'csvName',
      'packageName',
      'channelName',
      'csvJson',
      'object[]',
      'bundlePath',
      'providedApis[]: GroupVersionKind',
      'requiredApis[]: GroupVersionKind',
      'version',
      'skipRange',
      'dependencies[]: Dependency',
      'properties[]: Property',
      'replaces',
      'skips[]',
      'deprecation: Deprecation',
    ],
    ChannelEntry: ['packageName', 'channelName', 'bundleName', 'replaces'],
    ListPackageRequest: [],
    ListBundlesRequest: [],
    GetPackageRequest: ['name'],
    GetBundleRequest: ['pkgName', 'channelName', 'csvName'],
    GetBundleInChannelRequest: ['pkgName', 'channelName'],
    GetAllReplacementsRequest: ['csvName'],
    GetReplacementRequest: ['csvName', 'pkgName', 'channelName'],
    GetAllProvidersRequest: gvk,
    GetLatestProvidersRequest: gvk,
    GetDefaultProviderRequest: gvk,
    Deprecation: ['message'],
    ExperimentalListPackageCustomSchemasRequest: ['schema', 'packageName'],
  },
  services: {
    Registry: {
      ListPackages: 'ListPackageRequest -> stream PackageName',
      GetPackage: 'GetPackageRequest -> Package',
      GetBundle: 'GetBundleRequest -> Bundle',
      GetBundleForChannel: 'GetBundleInChannelRequest -> Bundle deprecated',
      GetChannelEntriesThatReplace: 'GetAllReplacementsRequest -> stream ChannelEntry',
      GetBundleThatReplaces: 'GetReplacementRequest -> Bundle',
      GetChannelEntriesThatProvide: 'GetAllProvidersRequest -> stream ChannelEntry',
      GetLatestChannelEntriesThatProvide: 'GetLatestProvidersRequest -> stream ChannelEntry',
      GetDefaultBundleThatProvides: 'GetDefaultProviderRequest -> Bundle',
      ListBundles: 'ListBundlesRequest -> stream Bundle',
    },
    ExperimentalRegistry: {
      ExperimentalListPackageCustomSchemas:
        'ExperimentalListPackageCustomSchemasRequest -> stream google.protobuf.Struct',
    },
  },
};

const health: ProtocolFile = {
  name: 'grpc/health/v1/health.proto',
  package: 'grpc.health.v1',
  goPackage: 'google.golang.org/grpc/health/grpc_health_v1',
  messages: {
    HealthCheckRequest: ['service'],
    HealthCheckResponse: ['status: HealthCheckResponse.ServingStatus'],
  },
  enums: {
    HealthCheckResponse: {
      ServingStatus: ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'],
    },
  },
  services: {
    Health: {
      Check: 'HealthCheckRequest -> HealthCheckResponse',
      Watch: 'HealthCheckRequest -> stream HealthCheckResponse',
    },
  },
};

/** The same messages for both versions of reflection. */
function reflection(version: 'v1' | 'v1alpha'): ProtocolFile {
  return {
    name: `grpc/reflection/${version}/reflection.proto`,
    package: `grpc.reflection.${version}`,
    goPackage: `google.golang.org/grpc/reflection/grpc_reflection_${version}`,
    messages: {
      ServerReflectionRequest: [
        'host',
        'message_request/file_by_filename = 3',
        'message_request/file_containing_symbol = 4',
        'message_request/file_containing_extension: ExtensionRequest = 5',
        'message_request/all_extension_numbers_of_type = 6',
        'message_request/list_services = 7',
      ],
      ExtensionRequest: ['containing_type', 'extension_number: int32'],
      ServerReflectionResponse: [
        'valid_host',
        'original_request: ServerReflectionRequest',
        'message_response/file_descriptor_response: FileDescriptorResponse = 4',
        'message_response/all_extension_numbers_response: ExtensionNumberResponse = 5',
        'message_response/list_services_response: ListServiceResponse = 6',
        'message_response/error_response: ErrorResponse = 7',
      ],
      FileDescriptorResponse: ['file_descriptor_proto[]: bytes'],
      ExtensionNumberResponse: ['base_type_name', 'extension_number[]: int32'],
      ListServiceResponse: ['service[]: ServiceResponse'],
      ServiceResponse: ['name'],
      ErrorResponse: ['error_code: int32', 'error_message'],
    },
    services: {
      ServerReflection: {
        ServerReflectionInfo: 'stream ServerReflectionRequest -> stream ServerReflectionResponse',
      },
    },
  };
}

/** All protocols of the server; each file comes after its imports. */
export const protocolFiles: readonly ProtocolFile[] = [
  registry,
  health,
  reflection('v1'),
  reflection('v1alpha'),
];
