import { z } from "zod";

const skillMetadataEntry = z.object({
  name: z.string(),
  description: z.string(),
  path: z.string(),
  license: z.string().nullable().optional(),
  compatibility: z.string().nullable().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  allowedTools: z.array(z.string()).optional(),
  module: z.string().optional(),
});

export type SkillMetadataEntry = z.infer<typeof skillMetadataEntry>;

/**
 * A value for a state key `skillsMetadata`, for middleware that keeps skills in the state of a thread.
 *
 * Our own middleware does not: files on a disk are not copied into every checkpoint, and each run looks for changes
 * itself. The key may be set, to null for example, and nothing depends on it.
 */
export const skillsMetadataValue: z.ZodOptional<z.ZodNullable<z.ZodArray<typeof skillMetadataEntry>>> = z
  .array(skillMetadataEntry)
  .nullable()
  .optional();
