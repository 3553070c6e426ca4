/** The placeholder for a new id in a test push. */
export const newId = "{{id}}";

/** A notification (document, section 2.3) for trying a receiver. */
export const exampleNotification = {
  id: newId,
  accountId: "b1b9f2f4-64d2-4c0e-8a0b-5f5e7a3d9c20",
  createTime: "2026-01-31T09:30:00.000Z",
  businessType: "CreateGlobalAccount",
  businessStatus: "Passed",
  remark: "",
  data: "",
  status: "readed",
} as const;
