const metadata = (kind: string): string => `application/json;as=${kind};v=v1;g=meta.k8s.io`;

/** What asks the API server for objects without anything but their metadata. */
export const acceptMetadata = {
  list: metadata('PartialObjectMetadataList'),
  watch: metadata('PartialObjectMetadata'),
} as const;
